//! Keeps secrets out of everything that is shown.
//!
//! Two rules, because a file that is broken enough hides which value is the token: whatever has the form of a
//! bootstrap token is masked everywhere, and in source lines so is every value behind a key that sounds secret.

const ID_LENGTH: usize = 6;
const SECRET_LENGTH: usize = 16;
const SECRET_KEYS: &[&str] = &["tok", "secret", "passw"];

/// What may be shown of a secret: how long it is.
pub(crate) fn described(text: &str) -> String {
    let length = text.trim_matches(['"', '\'']).chars().count();
    format!("({length} characters, not shown)")
}

/// The text with every bootstrap token in it masked, of the same length.
pub(crate) fn masked(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut masked = String::with_capacity(text.len());
    let mut rest = 0;
    for (dot, _) in text.match_indices('.') {
        let is_token = dot >= rest + ID_LENGTH
            && bytes[dot - ID_LENGTH..dot].iter().all(u8::is_ascii_alphanumeric)
            && bytes.get(dot + 1..dot + 1 + SECRET_LENGTH).is_some_and(|s| s.iter().all(u8::is_ascii_alphanumeric));
        if is_token {
            masked.push_str(&text[rest..=dot]);
            masked.push_str(&"*".repeat(SECRET_LENGTH));
            rest = dot + 1 + SECRET_LENGTH;
        }
    }
    masked.push_str(&text[rest..]);
    masked
}

/// A source line with tokens masked, and with every value behind a key that sounds secret masked too.
pub(crate) fn masked_line(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut hiding = false;
    let mut word = String::new();
    for character in masked(line).chars() {
        match character {
            ':' if !hiding && sounds_secret(&word) => hiding = true,
            ',' | '}' | '{' | '#' => hiding = false,
            _ => {}
        }
        if character.is_alphanumeric() || matches!(character, '_' | '-') {
            word.push(character.to_ascii_lowercase());
        } else if !character.is_whitespace() && !matches!(character, '"' | '\'') {
            word.clear();
        }
        let hide = hiding && !matches!(character, ':' | ' ' | '"' | '\'');
        shown.push(if hide { '*' } else { character });
    }
    shown
}

fn sounds_secret(key: &str) -> bool {
    SECRET_KEYS.iter().any(|part| key.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_masked_wherever_they_stand() {
        for (text, expected) in [
            ("abcdef.0123456789abcdef", "abcdef.****************"),
            ("x: abcdef.0123456789abcdef, y", "x: abcdef.****************, y"),
            ("ABCDEF.0123456789ABCDEF", "ABCDEF.****************"),
            ("192.168.1.10 and k8s.example.org:6443", "192.168.1.10 and k8s.example.org:6443"),
            ("abcdef.0123", "abcdef.0123"),
            ("äbcdef.0123456789abcdef", "äbcdef.0123456789abcdef"),
            ("xabcdef.0123456789abcdefg", "xabcdef.****************g"),
        ] {
            assert_eq!(masked(text), expected);
        }
    }

    #[test]
    fn values_behind_secret_keys_are_masked() {
        for (line, expected) in [
            ("    token: hunter2", "    token: *******"),
            ("bootstrap: { token: \"hunter2\", tokn: x1 }", "bootstrap: { token: \"*******\", tokn: ** }"),
            ("  my_token : hunter2 # old", "  my_token : ******* # old"),
            ("\"token\": hunter2", "\"token\": *******"),
            ("  name: stock # tok", "  name: stock # tok"),
            ("  - name: token-ring", "  - name: token-ring"),
        ] {
            assert_eq!(masked_line(line), expected);
        }
    }
}
