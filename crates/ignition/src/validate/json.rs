//! JSON with the line and column of every value and key.
//!
//! The library says what is no JSON, and where; what it accepted is read once more here, because it forgets where things
//! were. Its limit of nesting is ours.

use serde::de::IgnoredAny;

/// A value, and at which byte it begins.
pub(super) struct Node {
    pub(super) at: usize,
    pub(super) value: Value,
}

/// A value. A number that is no whole one is `Number(None)`.
pub(super) enum Value {
    Object(Vec<(Key, Node)>),
    List(Vec<Node>),
    Text(String),
    Number(Option<i64>),
    Switch(bool),
    Null,
}

/// A key, and at which byte it begins.
pub(super) struct Key {
    pub(super) at: usize,
    pub(super) name: String,
}

/// What is no JSON, with line and column.
pub(super) struct NotJson {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) why: String,
}

/// Reads a whole text.
pub(super) fn read(text: &str) -> Result<Node, NotJson> {
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| {
        let why = error.to_string();
        let why = why.split(" at line ").next().unwrap_or_default().to_owned();
        // An empty text ends before its first column.
        NotJson { line: error.line().max(1), column: error.column().max(1), why }
    })?;
    let mut reader = Reader { text, at: 0 };
    reader.node().ok_or_else(|| {
        let (line, column) = position(text, reader.at);
        NotJson { line, column, why: "a value that cannot be read".to_owned() }
    })
}

/// Line and column of a byte, both from one; the column in characters.
pub(super) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_begins = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line_begins..].chars().count() + 1)
}

impl Node {
    /// The value of a key; the first one where there are two.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        match &self.value {
            Value::Object(entries) => entries.iter().find(|(key, _)| key.name == name).map(|(_, node)| node),
            _ => None,
        }
    }

    /// Down along keys.
    pub(super) fn down(&self, names: &[&str]) -> Option<&Self> {
        names.iter().try_fold(self, |node, name| node.get(name))
    }

    /// The entries below these keys; none where there is no such list.
    pub(super) fn list(&self, names: &[&str]) -> &[Self] {
        match self.down(names).map(|node| &node.value) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }

    /// The text of a key.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match &self.get(name)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
        self.text.as_bytes().get(self.at).copied()
    }

    fn takes(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn node(&mut self) -> Option<Node> {
        let first = self.peek()?;
        let at = self.at;
        let value = match first {
            b'{' => Value::Object(self.entries()?),
            b'[' => Value::List(self.items()?),
            b'"' => Value::Text(self.string()?),
            _ => self.word(),
        };
        Some(Node { at, value })
    }

    fn entries(&mut self) -> Option<Vec<(Key, Node)>> {
        self.at += 1;
        let mut entries = Vec::new();
        while !self.takes(b'}') {
            self.takes(b',');
            self.peek()?;
            let key = Key { at: self.at, name: self.string()? };
            if !self.takes(b':') {
                return None;
            }
            entries.push((key, self.node()?));
        }
        Some(entries)
    }

    fn items(&mut self) -> Option<Vec<Node>> {
        self.at += 1;
        let mut items = Vec::new();
        while !self.takes(b']') {
            self.takes(b',');
            items.push(self.node()?);
        }
        Some(items)
    }

    fn string(&mut self) -> Option<String> {
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        while *bytes.get(end)? != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        let text = self.text.get(self.at..=end)?;
        self.at = end + 1;
        serde_json::from_str(text).ok()
    }

    fn word(&mut self) -> Value {
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().take_while(|byte| !b",]} \t\r\n".contains(byte)).count();
        let word = &self.text[self.at..self.at + length];
        self.at += length;
        match word {
            "true" => Value::Switch(true),
            "false" => Value::Switch(false),
            "null" => Value::Null,
            number => Value::Number(number.parse().ok()),
        }
    }
}
