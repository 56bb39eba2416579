//! Initiator names: how they are written down, and which are names at all.

/// How names begin that `iscsi-iname` makes.
const RANDOM: [&str; 4] = [
    "iqn.1993-08.org.debian:01:",
    "iqn.2004-10.com.ubuntu:01:",
    "iqn.1994-05.com.redhat:",
    "iqn.2016-04.com.open-iscsi:",
];

/// The name in the file. `GenerateName=yes`, by which a package asks for a name at the first start, is no name.
pub(super) fn read(text: &str) -> Option<String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let mut values = lines.filter_map(|line| line.strip_prefix("InitiatorName")?.trim_start().strip_prefix('='));
    values.next().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// As RFC 7143 wants it: `iqn.2001-04.com.example:storage`, `eui.` or `naa.` and hexadecimal digits.
pub(super) fn is_valid(name: &str) -> bool {
    let is_hex = |text: &str, lengths: &[usize]| {
        lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    if let Some(rest) = name.strip_prefix("eui.") {
        return is_hex(rest, &[16]);
    }
    if let Some(rest) = name.strip_prefix("naa.") {
        return is_hex(rest, &[16, 32]);
    }
    let Some((date, domain)) = name.strip_prefix("iqn.").and_then(|rest| rest.split_once('.')) else { return false };
    let is_month = match date.split_once('-') {
        Some((year, month)) => {
            let digits = |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
            digits(year, 4) && digits(month, 2)
        }
        None => false,
    };
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".:-_".contains(&byte);
    is_month && !domain.is_empty() && name.len() <= 223 && name.bytes().all(is_allowed)
}

/// Whether it was generated, not chosen by a person.
pub(super) fn is_random(name: &str) -> bool {
    let is_hex = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_hexdigit());
    RANDOM.iter().filter_map(|start| name.strip_prefix(start)).any(is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "iqn.1993-08.org.debian:01:9fe7844fb24f";

    #[test]
    fn names() {
        for (name, expected) in [
            (OLD, true),
            ("iqn.2001-04.com.example", true),
            ("iqn.2001-04.com.example:storage:disk_1", true),
            ("eui.02004567A425678D", true),
            ("naa.52004567BA64678D", true),
            ("iqn.2001.com.example", false),
            ("iqn.20a1-04.com.example", false),
            ("iqn.2001-04.", false),
            ("eui.02004567", false),
            ("worker-01", false),
            ("", false),
        ] {
            assert_eq!(is_valid(name), expected, "{name}");
        }
        assert!(is_random(OLD) && !is_random("iqn.1993-08.org.debian:01:worker-01"));
    }
}
