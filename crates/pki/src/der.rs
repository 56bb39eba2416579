//! Writing DER: as much of it as a certificate request needs.

pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(crate) const UTF8_STRING: u8 = 0x0c;
pub(crate) const PRINTABLE_STRING: u8 = 0x13;
pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const SET: u8 = 0x31;

/// A value of one or several parts, with its tag and its length in as few bytes as possible.
pub(crate) fn value(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let mut whole = vec![tag];
    match u8::try_from(content.len()) {
        Ok(short) if short < 0x80 => whole.push(short),
        _ => {
            let length = content.len().to_be_bytes();
            let digits = &length[length.iter().take_while(|byte| **byte == 0).count()..];
            whole.push(0x80 | u8::try_from(digits.len()).unwrap_or_default());
            whole.extend(digits);
        }
    }
    whole.extend(content);
    whole
}

/// A string of whole bytes as bits.
pub(crate) fn bits(bytes: &[u8]) -> Vec<u8> {
    value(BIT_STRING, &[&[0], bytes])
}

/// A text as Go writes it: a `PrintableString` where that is possible.
pub(crate) fn text(text: &str) -> Vec<u8> {
    let is_printable = |byte: &u8| byte.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(byte);
    let tag = if text.as_bytes().iter().all(is_printable) { PRINTABLE_STRING } else { UTF8_STRING };
    value(tag, &[text.as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_take_as_few_bytes_as_possible() {
        for (length, expected) in [
            (0, vec![0x04, 0]),
            (127, vec![0x04, 127]),
            (128, vec![0x04, 0x81, 128]),
            (255, vec![0x04, 0x81, 255]),
            (256, vec![0x04, 0x82, 1, 0]),
            (65_536, vec![0x04, 0x83, 1, 0, 0]),
        ] {
            let written = value(OCTET_STRING, &[&vec![7; length]]);
            assert_eq!((&written[..expected.len()], written.len()), (&expected[..], expected.len() + length));
        }
    }

    #[test]
    fn texts_are_printable_where_possible() {
        for (given, tag) in [
            ("system:node:worker-01", PRINTABLE_STRING),
            ("a*", UTF8_STRING),
            ("a&b", UTF8_STRING),
            ("a_b", UTF8_STRING),
            ("ä", UTF8_STRING),
        ] {
            assert_eq!(text(given)[0], tag, "{given}");
        }
    }
}
