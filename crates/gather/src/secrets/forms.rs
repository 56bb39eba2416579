//! How a secret may look elsewhere: as it is, as base64, as hex, escaped.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
};

/// Every usual form of a value.
pub(super) fn of(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = vec![value.to_vec(), hex(value, false), hex(value, true)];
    let encoded = STANDARD.encode(value);
    forms.extend([&encoded, &URL_SAFE.encode(value)].map(|text| text.as_bytes().to_vec()));
    forms.extend([STANDARD_NO_PAD.encode(value), URL_SAFE_NO_PAD.encode(value)].map(String::into_bytes));
    forms.extend([STANDARD.encode(&encoded), URL_SAFE_NO_PAD.encode(&encoded)].map(String::into_bytes));
    forms.extend(within_base64(value));
    if let Ok(text) = std::str::from_utf8(value) {
        forms.push(escaped(text));
        forms.push(percent(text));
    }
    forms
}

/// A value within a longer text that is base64 as a whole: what its neighbours have no influence on, for each of the three
/// positions it can begin at.
fn within_base64(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for skipped in 1..3 {
        let Some(rest) = value.get(skipped..) else { continue };
        let whole = &rest[..rest.len() / 3 * 3];
        forms.extend([STANDARD.encode(whole), URL_SAFE.encode(whole)].map(String::into_bytes));
    }
    let whole = &value[..value.len() / 3 * 3];
    forms.extend([STANDARD.encode(whole), URL_SAFE.encode(whole)].map(String::into_bytes));
    forms
}

fn hex(value: &[u8], upper: bool) -> Vec<u8> {
    let digits = |byte: &u8| if upper { format!("{byte:02X}") } else { format!("{byte:02x}") };
    value.iter().map(digits).collect::<String>().into_bytes()
}

/// As it stands within a JSON text.
fn escaped(text: &str) -> Vec<u8> {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.trim_matches('"').as_bytes().to_vec()
}

/// As it stands within an address.
fn percent(text: &str) -> Vec<u8> {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(byte.into());
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_in_every_usual_form() {
        let secret = b"correct horse/battery+staple\n?>";
        let forms = of(secret);
        let encoded = STANDARD.encode(secret);
        for text in [
            String::from_utf8_lossy(secret).into_owned(),
            encoded.clone(),
            URL_SAFE_NO_PAD.encode(secret),
            STANDARD.encode(&encoded),
            serde_json::json!({ "x": String::from_utf8_lossy(secret) }).to_string(),
            "correct%20horse%2Fbattery%2Bstaple%0A%3F%3E".to_owned(),
            String::from_utf8(hex(secret, false)).unwrap(),
        ] {
            let is_in = |form: &Vec<u8>| text.contains(&*String::from_utf8_lossy(form));
            assert!(forms.iter().any(is_in), "{text}");
        }
        for prefix in ["", "a", "ab", "user:"] {
            let around = STANDARD.encode([prefix.as_bytes(), secret, b"tail"].concat());
            assert!(forms.iter().any(|form| around.contains(&*String::from_utf8_lossy(form))), "after `{prefix}`");
        }
    }
}
