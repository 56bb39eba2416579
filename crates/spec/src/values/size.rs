//! Amounts of bytes, written as Ceph and `truncate` read them: `10G` and `10Gi` are both ten times 2³⁰.

use explain::Diagnostic;
use schemars::{Schema, json_schema};

use super::{Value, is_not};
use crate::{codes, excerpt::quoted_part};

/// How large a file is that an OSD keeps its data in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileSize(pub(crate) u64);

/// How much memory an OSD aims at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemoryTarget(pub(crate) u64);

/// Ceph's default.
pub(crate) const DEFAULT_MEMORY_TARGET: u64 = 4 << 30;

/// A unit, and by how many bits it shifts.
const UNITS: &[(&str, u32)] = &[("M", 20), ("Mi", 20), ("G", 30), ("Gi", 30), ("T", 40), ("Ti", 40)];
const PATTERN: &str = "^[1-9][0-9]*[MGT]i?$";

/// A size and how it is written: the smallest a value may be.
struct Smallest(u64, &'static str);

/// Below it an OSD has no room for its own bookkeeping.
const SMALLEST_FILE: Smallest = Smallest(2 << 30, "2G");
/// Ceph's own limit.
const SMALLEST_MEMORY_TARGET: Smallest = Smallest(896 << 20, "896M");

impl Value for FileSize {
    const EXPECTED: &'static str = "a size";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        at_least(text, "a file of an OSD", &SMALLEST_FILE).map(Self)
    }

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": PATTERN, "examples": ["10G"] })
    }
}

impl Value for MemoryTarget {
    const EXPECTED: &'static str = "a size";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        at_least(text, "the memory of an OSD", &SMALLEST_MEMORY_TARGET).map(Self)
    }

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": PATTERN, "examples": ["2G"] })
    }
}

fn at_least(text: &str, what: &str, smallest: &Smallest) -> Result<u64, Diagnostic> {
    let size = bytes(text).ok_or_else(|| is_not(codes::BAD_SIZE, text, "a size"))?;
    if size < smallest.0 {
        let message = format!("`{}` is too small for {what}", quoted_part(text));
        return Err(Diagnostic::new(codes::OUT_OF_RANGE, message).with_hint(format!("use at least `{}`", smallest.1)));
    }
    Ok(size)
}

fn bytes(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let (_, shift) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let number: u64 = number.parse().ok().filter(|_| !number.starts_with('0'))?;
    number.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::{super::outcome, *};

    #[test]
    fn sizes() {
        let rows =
            ["10G", "2Gi", "2048M", "1T", "1G", "10", "10 G", "10GB", "0G", "1.5G", "G", "99999999999999999T", "-1G"];
        let report: Vec<String> = rows.iter().map(|text| outcome::<FileSize>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }

    #[test]
    fn memory_targets() {
        let rows = ["896M", "4G", "895M"];
        let report: Vec<String> = rows.iter().map(|text| outcome::<MemoryTarget>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }
}
