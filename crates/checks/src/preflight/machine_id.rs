//! The machine has a machine-id, and no other node has the same: machines copied from one image often share it.

use super::{Check, Context, problem};
use crate::{Checking, Inconclusive, codes};

/// See [`super`].
pub(super) const CHECK: Check = Check::new(
    "machine-id",
    "the machine-id is well-formed, and no reachable node has the same",
    &[codes::BAD_MACHINE_ID, codes::MACHINE_ID_TAKEN],
    check,
);

const PATH: &str = "/etc/machine-id";

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let text = context.text(PATH)?;
        let id = match well_formed(text.as_deref()) {
            Ok(id) => id,
            Err(what) => return Ok(problem(codes::BAD_MACHINE_ID, format!("{PATH} {what}"))),
        };
        match context.machine_ids.holder(&context.host, id).await {
            Ok(None) => Ok(Vec::new()),
            Ok(Some(other)) if other == context.node.name => Ok(Vec::new()),
            Ok(Some(other)) => {
                Ok(problem(codes::MACHINE_ID_TAKEN, format!("node `{other}` has machine-id {id} as well")))
            }
            Err(why) => Err(Inconclusive(format!("the machine-id is well-formed; whether another node has it: {why}"))),
        }
    })
}

/// The id, or what is wrong with the file.
fn well_formed(text: Option<&str>) -> Result<&str, String> {
    let id = text.ok_or("does not exist")?.trim();
    match id {
        "" => Err("is empty".to_owned()),
        "uninitialized" => Err("says `uninitialized`: the machine has not finished its first boot".to_owned()),
        zeros if zeros.len() == 32 && zeros.bytes().all(|byte| byte == b'0') => Err("is all zeros".to_owned()),
        id if id.len() == 32 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) => Ok(id),
        _ => Err("does not hold 32 lower-case hexadecimal digits".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_machine_id_is_one() {
        let id = "f60e1083f52a4a3eb85c26366e4fdc85";
        let upper = id.to_uppercase();
        for (text, expected) in [
            (Some("f60e1083f52a4a3eb85c26366e4fdc85\n"), Ok(id)),
            (None, Err("does not exist")),
            (Some("\n"), Err("is empty")),
            (Some("uninitialized\n"), Err("says `uninitialized`: the machine has not finished its first boot")),
            (Some("00000000000000000000000000000000"), Err("is all zeros")),
            (Some("f60e1083"), Err("does not hold 32 lower-case hexadecimal digits")),
            (Some(upper.as_str()), Err("does not hold 32 lower-case hexadecimal digits")),
        ] {
            assert_eq!(well_formed(text), expected.map_err(str::to_owned), "{text:?}");
        }
    }
}
