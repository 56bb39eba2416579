//! How long the secret of a sealed node is good for joining: `30d`, `12h`, or `never`.

use std::time::Duration;

use explain::Diagnostic;
use schemars::{Schema, json_schema};

use super::{Value, is_not};
use crate::{cluster::SecretTtl, codes};

/// A unit, and its seconds.
const UNITS: &[(&str, u64)] = &[("m", 60), ("h", 3_600), ("d", 86_400)];
const NEVER: &str = "never";
/// Beyond it the moment of its end could not be written down.
const LONGEST_DAYS: u64 = 3_650;

impl Value for SecretTtl {
    const EXPECTED: &'static str = "a duration";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        if text == NEVER {
            return Ok(Self::Never);
        }
        let length = length(text).ok_or_else(|| is_not(codes::BAD_TTL, text, Self::EXPECTED))?;
        if length > Duration::from_hours(LONGEST_DAYS * 24) {
            let message = format!("`{text}` is longer than {LONGEST_DAYS} days");
            return Err(
                Diagnostic::new(codes::OUT_OF_RANGE, message).with_hint(format!("use `{LONGEST_DAYS}d` or `{NEVER}`"))
            );
        }
        Ok(Self::After(length))
    }

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^([1-9][0-9]*[mhd]|never)$", "examples": ["30d"] })
    }
}

fn length(text: &str) -> Option<Duration> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let (_, seconds) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let number: u64 = number.parse().ok().filter(|_| !number.starts_with('0'))?;
    number.checked_mul(*seconds).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::{super::outcome, *};

    #[test]
    fn lengths_of_time() {
        let rows =
            ["30d", "12h", "90m", "never", "30", "d", "0d", "1.5d", "30s", "4000d", "99999999999999999999d", "-1d"];
        let report: Vec<String> = rows.iter().map(|text| outcome::<SecretTtl>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }
}
