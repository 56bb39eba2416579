//! YAML from JSON values, for configurations that people read.
//!
//! Libraries write YAML through `Serialize`, which can fail; a JSON value cannot, so nothing that is rendered needs an
//! error path. Keys come in one order, whatever a map's own is: what a Kubernetes object begins with, then the alphabet.

use serde_json::{Map, Value};

const FIRST: &[&str] = &["apiVersion", "kind", "metadata", "name"];

/// The value as a YAML document.
pub fn document(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => mapping(&mut text, map, 0),
        Value::Array(items) if !items.is_empty() => sequence(&mut text, items, 0),
        scalar => text.push_str(&format!("{}\n", inline(scalar))),
    }
    text
}

fn mapping(text: &mut String, map: &Map<String, Value>, depth: usize) {
    let mut entries: Vec<(&String, &Value)> = map.iter().collect();
    entries.sort_by_key(|(key, _)| (FIRST.iter().position(|first| first == key).unwrap_or(FIRST.len()), *key));
    for (key, value) in entries {
        indent(text, depth);
        text.push_str(&format!("{}:", string(key)));
        match value {
            Value::Object(map) if !map.is_empty() => {
                text.push('\n');
                mapping(text, map, depth + 1);
            }
            Value::Array(items) if !items.is_empty() => {
                text.push('\n');
                sequence(text, items, depth);
            }
            Value::String(lines) if is_block(lines) => block(text, lines, depth + 1),
            scalar => text.push_str(&format!(" {}\n", inline(scalar))),
        }
    }
}

/// Whether this reads better as lines than between quotes, and can be written so without further signs.
fn is_block(text: &str) -> bool {
    let lines = text.strip_suffix('\n').unwrap_or_default();
    lines.contains('\n')
        && !lines.starts_with([' ', '\n'])
        && !lines.ends_with('\n')
        && text.chars().all(|c| c == '\n' || is_readable(c))
}

fn block(text: &mut String, lines: &str, depth: usize) {
    text.push_str(" |\n");
    for line in lines.lines() {
        if !line.is_empty() {
            indent(text, depth);
        }
        text.push_str(&format!("{line}\n"));
    }
}

fn sequence(text: &mut String, items: &[Value], depth: usize) {
    for item in items {
        let mut block = String::new();
        match item {
            Value::Object(map) if !map.is_empty() => mapping(&mut block, map, depth + 1),
            Value::Array(items) if !items.is_empty() => sequence(&mut block, items, depth + 1),
            scalar => block = format!("{}\n", inline(scalar)),
        }
        indent(text, depth);
        text.push_str(&format!("- {}", block.trim_start()));
    }
}

fn indent(text: &mut String, depth: usize) {
    text.push_str(&"  ".repeat(depth));
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => string(text),
        // Numbers, booleans, null and what is empty are the same in both languages.
        other => other.to_string(),
    }
}

/// Without quotes only what no reader of YAML takes for anything but text. Quoted text is as in JSON, but for
/// characters that YAML does not allow to stand for themselves.
fn string(text: &str) -> String {
    const WORDS: &[&str] = &["true", "false", "yes", "no", "on", "off", "y", "n", "null"];
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let is_word = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text.chars().all(plain)
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    if is_word {
        return text.to_owned();
    }
    let quoted = Value::from(text).to_string();
    quoted.chars().map(|c| if is_readable(c) { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) }).collect()
}

fn is_readable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_begin_as_people_expect() {
        let value = json!({
            "zone": "a", "kind": "Thing", "apiVersion": "v1", "metadata": {"labels": {"b": "1", "a": "x"}, "name": "it"},
            "list": ["one", 2, {"name": "three", "also": [true, null]}, [["nested"], {}], {}, []],
        });
        insta::assert_snapshot!(document(&value));
    }

    #[test]
    fn what_is_written_is_read_back() {
        let texts = [
            "",
            "plain",
            "true",
            "No",
            "y",
            "null",
            "~",
            "1",
            "1.5",
            "0x1f",
            "1e3",
            ".5",
            "-",
            "- a",
            "a: b",
            "a #b",
            "#",
            "'",
            "\"",
            "line\nbreak\n",
            "a\n\n  b: c\n",
            "a\nb",
            " a\nb\n",
            "\na\n",
            "a\nb\n\n",
            "a\t\nb\n",
            "- a\n# b\n",
            " spaces ",
            "tab\t",
            "10.96.0.0/12",
            "::",
            "fd00::1",
            "a:b",
            "*",
            "&a",
            "!x",
            "%x",
            "@x",
            "`x`",
            "{",
            "[",
            "ü",
            "\u{7f}",
            "\u{85}",
            "\u{2028}",
            "\u{feff}",
            "\u{1f600}",
            "0s",
            "2024-01-01",
            "<<",
            "=",
            "/etc/x.yaml",
        ];
        let rows = texts.map(|text| json!({text: text, "list": [text, [text]], "map": {"deep": {text: [text]}}}));
        let more = [
            json!([]),
            json!({}),
            json!("x"),
            json!(7),
            json!([[1, [2]], {"a": [{}]}]),
            json!(i64::MIN),
            json!(u64::MAX),
        ];
        for value in rows.iter().chain(&more) {
            let text = document(value);
            let back: Value = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(&back, value, "\n{text}");
        }
    }
}
