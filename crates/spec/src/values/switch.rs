//! `true` or `false`.

use explain::Diagnostic;
use schemars::{Schema, json_schema};

use super::{Form, Value, choose};
use crate::codes;

/// Something that is on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Switch(pub(crate) bool);

impl Value for Switch {
    const EXPECTED: &'static str = "true or false";
    const FORM: Form = Form::Switch;

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        choose(codes::WRONG_TYPE, Self::EXPECTED, text, &[("true", Self(true)), ("false", Self(false))])
    }

    fn schema() -> Schema {
        json_schema!({ "type": "boolean" })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::outcome, *};

    #[test]
    fn switches() {
        let rows = ["true", "false", "True", "yes", "on", "1", ""];
        let report: Vec<String> = rows.iter().map(|text| outcome::<Switch>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }
}
