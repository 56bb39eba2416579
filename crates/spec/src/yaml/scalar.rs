//! What a plain scalar means in YAML 1.2's core schema; `yes`, `on` and `12:30:45` are text there.

use std::rc::Rc;

/// A single value as written.
#[derive(Debug, Clone)]
pub(crate) struct Scalar {
    pub(crate) text: Rc<str>,
    /// Not in quotes: its form decides what it means.
    pub(crate) plain: bool,
}

/// What a scalar means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    Null,
    Bool,
    Integer,
    Float,
    Text,
}

impl Scalar {
    pub(crate) fn meaning(&self) -> Meaning {
        if !self.plain {
            return Meaning::Text;
        }
        match &*self.text {
            "" | "~" | "null" | "Null" | "NULL" => Meaning::Null,
            "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => Meaning::Bool,
            text if is_integer(text) => Meaning::Integer,
            text if is_float(text) => Meaning::Float,
            _ => Meaning::Text,
        }
    }
}

fn is_integer(text: &str) -> bool {
    let all = |digits: &str, allowed: fn(&u8) -> bool| !digits.is_empty() && digits.bytes().all(|byte| allowed(&byte));
    if let Some(octal) = text.strip_prefix("0o") {
        return all(octal, |byte| matches!(byte, b'0'..=b'7'));
    }
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        return all(hexadecimal, u8::is_ascii_hexdigit);
    }
    all(text.strip_prefix(['+', '-']).unwrap_or(text), u8::is_ascii_digit)
}

fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    // Rust also reads `inf`, `nan` and `infinity`, which are text in YAML.
    unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && !unsigned.starts_with(['+', '-'])
        && unsigned.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars() {
        for (text, meaning) in [
            ("", Meaning::Null),
            ("~", Meaning::Null),
            ("null", Meaning::Null),
            ("true", Meaning::Bool),
            ("yes", Meaning::Text),
            ("off", Meaning::Text),
            ("24", Meaning::Integer),
            ("-1", Meaning::Integer),
            ("0x1F", Meaning::Integer),
            ("0o17", Meaning::Integer),
            ("08", Meaning::Integer),
            ("1.36", Meaning::Float),
            ("1.36.3", Meaning::Text),
            ("52540e000010", Meaning::Float),
            ("525400000010", Meaning::Integer),
            ("52:54:00:00:00:10", Meaning::Text),
            (".5", Meaning::Float),
            (".inf", Meaning::Float),
            ("-.inf", Meaning::Float),
            ("-.nan", Meaning::Text),
            ("infinity", Meaning::Text),
            ("--1", Meaning::Text),
            (".", Meaning::Text),
            ("master-01", Meaning::Text),
        ] {
            assert_eq!(Scalar { text: text.into(), plain: true }.meaning(), meaning, "{text:?}");
        }
    }

    #[test]
    fn quotes_make_text() {
        assert_eq!(Scalar { text: "24".into(), plain: false }.meaning(), Meaning::Text);
        assert_eq!(Scalar { text: "".into(), plain: false }.meaning(), Meaning::Text);
    }
}
