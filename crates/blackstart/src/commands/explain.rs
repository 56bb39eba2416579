//! `blackstart explain`: what a code means and what to do about it.

use ::explain::{Code, did_you_mean};
use serde_json::{Value, json};

use crate::{
    Failure, codes,
    context::{Context, Ended},
};

pub(super) fn run(context: &Context, wanted: Option<&str>) -> Result<(), Ended> {
    let all = codes::all();
    let Some(wanted) = wanted else {
        if context.out.is_json() {
            return Ok(context.out.json(&all.iter().map(as_json).collect::<Vec<_>>())?);
        }
        let lines: String = all.iter().map(|code| format!("{:<14} {}\n", code.id, code.meaning)).collect();
        return Ok(context.out.text(&lines)?);
    };
    let Some(code) = all.iter().find(|code| code.id.eq_ignore_ascii_case(wanted)) else {
        let failure = Failure::usage(codes::UNKNOWN_CODE, format!("there is no code `{wanted}`"));
        let near = did_you_mean(wanted, all.iter().map(|code| code.id));
        return Err(match near {
            Some(near) => failure.with_hint(format!("did you mean `{near}`?")).into(),
            None => failure.into(),
        });
    };
    if context.out.is_json() {
        return Ok(context.out.json(&as_json(code))?);
    }
    Ok(context.out.text(&format!("{}: {}\n  what to do: {}\n", code.id, code.meaning, code.fix))?)
}

fn as_json(code: &Code) -> Value {
    json!({ "code": code.id, "meaning": code.meaning, "fix": code.fix })
}
