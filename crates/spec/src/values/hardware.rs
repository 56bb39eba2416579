//! DMI facts that identify a machine.

use explain::Diagnostic;
use schemars::{Schema, json_schema};

use super::{Value, is_not};
use crate::{codes, excerpt::quoted_part};

/// `/sys/class/dmi/id/product_uuid`, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DmiUuid(pub(crate) String);

/// `/sys/class/dmi/id/product_serial`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DmiSerial(pub(crate) String);

impl Value for DmiUuid {
    const EXPECTED: &'static str = "a UUID";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        let uuid = text.to_ascii_lowercase();
        let groups: Vec<usize> = uuid.split('-').map(str::len).collect();
        if groups != [8, 4, 4, 4, 12] || !uuid.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit()) {
            return Err(is_not(codes::BAD_HARDWARE_ID, text, Self::EXPECTED)
                .with_hint("copy it from /sys/class/dmi/id/product_uuid on the machine"));
        }
        if uuid.bytes().all(|byte| matches!(byte, b'0' | b'-')) || uuid.bytes().all(|byte| matches!(byte, b'f' | b'-'))
        {
            let message = format!("`{text}` means that the vendor set no UUID");
            return Err(
                Diagnostic::new(codes::BAD_HARDWARE_ID, message).with_hint("identify the machine by its MAC addresses")
            );
        }
        Ok(Self(uuid))
    }

    fn schema() -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
        })
    }
}

impl Value for DmiSerial {
    const EXPECTED: &'static str = "a serial number";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        let serial = text.trim();
        if serial.is_empty() || serial.chars().any(char::is_control) {
            let message = format!("`{}` is not a serial number", quoted_part(text));
            return Err(Diagnostic::new(codes::BAD_HARDWARE_ID, message));
        }
        Ok(Self(serial.to_owned()))
    }

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "\\S" })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::outcome, *};

    #[test]
    fn uuids() {
        let rows = [
            "4C4C4544-0042-3510-8052-B4C04F4D4E32",
            "4c4c45440042351080 52b4c04f4d4e32",
            "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "zc4c4544-0042-3510-8052-b4c04f4d4e32",
        ];
        let report: Vec<String> = rows.iter().map(|text| outcome::<DmiUuid>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }

    #[test]
    fn serials() {
        assert_eq!(DmiSerial::parse(" J7K2B42 "), Ok(DmiSerial("J7K2B42".into())));
        assert!(DmiSerial::parse("  ").is_err());
    }
}
