//! Whole numbers with a range.

use std::ops::RangeInclusive;

use explain::Diagnostic;
use schemars::{Schema, json_schema};

use super::{Form, Value, is_not};
use crate::{codes, excerpt::quoted_part};

/// A TCP port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Port(pub(crate) u16);

/// The length of a network's prefix; the family's own limit is a matter of the cross-checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PrefixLength(pub(crate) u8);

/// How many copies of something are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Copies(pub(crate) u8);

const PORTS: RangeInclusive<u16> = 1..=65_535;
const PREFIXES: RangeInclusive<u16> = 1..=128;
/// Ceph's own limits.
const COPIES: RangeInclusive<u16> = 1..=10;

impl Value for Port {
    const EXPECTED: &'static str = "a port";
    const FORM: Form = Form::Number;

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        in_range(text, Self::EXPECTED, PORTS).map(Self)
    }

    fn schema() -> Schema {
        json_schema!({ "type": "integer", "minimum": PORTS.start(), "maximum": PORTS.end() })
    }
}

impl Value for PrefixLength {
    const EXPECTED: &'static str = "a prefix length";
    const FORM: Form = Form::Number;

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        small(text, Self::EXPECTED, PREFIXES).map(Self)
    }

    fn schema() -> Schema {
        json_schema!({ "type": "integer", "minimum": PREFIXES.start(), "maximum": PREFIXES.end() })
    }
}

impl Value for Copies {
    const EXPECTED: &'static str = "a number of copies";
    const FORM: Form = Form::Number;

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        small(text, Self::EXPECTED, COPIES).map(Self)
    }

    fn schema() -> Schema {
        json_schema!({ "type": "integer", "minimum": COPIES.start(), "maximum": COPIES.end() })
    }
}

fn small(text: &str, what: &str, range: RangeInclusive<u16>) -> Result<u8, Diagnostic> {
    let number = in_range(text, what, range.clone())?;
    u8::try_from(number).map_err(|_| out_of_range(text, what, &range))
}

fn in_range(text: &str, what: &str, range: RangeInclusive<u16>) -> Result<u16, Diagnostic> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(is_not(codes::WRONG_TYPE, text, what).with_hint("write a whole number in decimal digits"));
    }
    match text.parse::<u16>() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(out_of_range(text, what, &range)),
    }
}

fn out_of_range(text: &str, what: &str, range: &RangeInclusive<u16>) -> Diagnostic {
    Diagnostic::new(codes::OUT_OF_RANGE, format!("`{}` is out of range for {what}", quoted_part(text)))
        .with_hint(format!("use a number from {} to {}", range.start(), range.end()))
}

#[cfg(test)]
mod tests {
    use super::{super::outcome, *};

    #[test]
    fn ports() {
        let rows = ["6443", "0", "65536", "-1", "0x1F", "1e3", "99999999999999999999"];
        let report: Vec<String> = rows.iter().map(|text| outcome::<Port>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }

    #[test]
    fn copies() {
        let rows = ["1", "10", "0", "11", "3.0"];
        let report: Vec<String> = rows.iter().map(|text| outcome::<Copies>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }

    #[test]
    fn prefixes() {
        let rows = ["24", "128", "0", "129", "999"];
        let report: Vec<String> = rows.iter().map(|text| outcome::<PrefixLength>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }
}
