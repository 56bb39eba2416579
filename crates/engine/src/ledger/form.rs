//! The ledger's form on disk: JSON that a person can read, with a version and a checksum.
//!
//! The version is read before anything else, so that a ledger of another version is never mistaken for a damaged one.
//! A change of the form gets the next version here and a function that brings the one before it up to date.

use serde_json::{Value, json};

use super::Ledger;

/// The version this program writes.
pub(super) const VERSION: u64 = 1;

/// What a text turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Form {
    Good(Box<Ledger>),
    /// Torn, empty, garbage, or edited by hand; with the reason.
    Damaged(String),
    Newer(u64),
    Older(u64),
}

pub(super) fn write(ledger: &Ledger) -> Result<Vec<u8>, serde_json::Error> {
    let body = serde_json::to_value(ledger)?;
    let mut text =
        serde_json::to_vec_pretty(&json!({ "version": VERSION, "checksum": checksum(&body), "ledger": body }))?;
    text.push(b'\n');
    Ok(text)
}

pub(super) fn read(text: &[u8]) -> Form {
    if text.is_empty() {
        return Form::Damaged("it is empty".into());
    }
    let value: Value = match serde_json::from_slice(text) {
        Ok(value) => value,
        Err(error) => return Form::Damaged(format!("it is not JSON: {error}")),
    };
    match value.get("version").and_then(Value::as_u64) {
        None => return Form::Damaged("it has no version".into()),
        Some(version) if version > VERSION => return Form::Newer(version),
        Some(version) if version < VERSION => return Form::Older(version),
        Some(_) => {}
    }
    let Some(body) = value.get("ledger") else {
        return Form::Damaged("it has no `ledger`".into());
    };
    if value.get("checksum").and_then(Value::as_str) != Some(&checksum(body)) {
        return Form::Damaged("its checksum does not fit".into());
    }
    match serde_json::from_value(body.clone()) {
        Ok(ledger) => Form::Good(Box::new(ledger)),
        Err(error) => Form::Damaged(format!("cannot parse it: {error}")),
    }
}

/// Over the compact form with sorted keys, so that white space does not count.
fn checksum(body: &Value) -> String {
    let mut body = body.clone();
    body.sort_all_objects(); // they are not, when some crate of the build asks serde_json to preserve the order
    format!("crc32:{:08x}", crc32fast::hash(body.to_string().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_turns_out_to_be() {
        let good = write(&Ledger { generation: 7, ..Ledger::default() }).unwrap();
        let text = String::from_utf8(good.clone()).unwrap();
        let damaged = |text: &str| matches!(read(text.as_bytes()), Form::Damaged(_));
        assert!(matches!(read(&good), Form::Good(ledger) if ledger.generation == 7));
        assert!(damaged(""));
        assert!(damaged("\0\0\0\0"));
        assert!(damaged("[]"));
        assert!(damaged(&text[..text.len() / 2]));
        assert!(damaged(&text.replace("\"generation\": 7", "\"generation\": 8")), "a flipped digit");
        assert!(damaged(&text.replace("\"ledger\"", "\"other\"")));
        assert_eq!(read(text.replace("\"version\": 1", "\"version\": 2").as_bytes()), Form::Newer(2));
        assert_eq!(read(text.replace("\"version\": 1", "\"version\": 0").as_bytes()), Form::Older(0));
    }

    #[test]
    fn no_flipped_bit_and_no_torn_end_passes_for_a_ledger() {
        let mut ledger = Ledger { run: "20261115T120000Z-1".into(), ..Ledger::default() };
        ledger.verify("playbook/step", "2026-11-15T12:00:00Z".parse().unwrap());
        let good = write(&ledger).unwrap();
        for (index, bit) in (0..good.len()).flat_map(|index| (0..8).map(move |bit| (index, bit))) {
            let mut flipped = good.clone();
            flipped[index] ^= 1 << bit;
            assert!(!matches!(read(&flipped), Form::Good(_)), "bit {bit} of byte {index}");
        }
        for len in 0..good.len() - 1 {
            assert!(matches!(read(&good[..len]), Form::Damaged(_)), "the first {len} bytes");
        }
    }

    #[test]
    fn white_space_and_the_order_of_keys_do_not_count() {
        let good = write(&Ledger { generation: 7, ..Ledger::default() }).unwrap();
        let value: Value = serde_json::from_slice(&good).unwrap();
        let reordered = format!(
            "{{\"ledger\": {{\"steps\": {{}}, \"sequence\": 0, \"run\": \"\", \"generation\": 7}}, \"checksum\": {}, \"version\": 1}}",
            value["checksum"]
        );
        assert_eq!(read(reordered.as_bytes()), read(&good));
        assert!(matches!(read(&good), Form::Good(_)));
    }
}
