//! From a tree of YAML values to the shapes of [`crate::file`], collecting what does not fit instead of stopping.
//!
//! A shape implements [`Section`] and asks its [`Fields`] for every key it knows. Which keys were asked for decides
//! what an unknown key is, so the reader needs no list of its own.

use explain::Diagnostic;

use crate::{
    codes,
    excerpt::quoted_part,
    location::{List, Location, Spanned},
    path::Path,
    problems::{Finding, Problems},
    values::{Form, Value},
    yaml::{Entry, Kind, Meaning, Node, Scalar},
};

/// Something that can be read from a YAML value.
pub(crate) trait Read: Sized {
    /// The value; `None` after a problem has been reported.
    fn read(node: &Node, path: &Path<'_>, problems: &mut Problems<'_>) -> Option<Self>;
}

/// A mapping with known keys.
pub(crate) trait Section: Sized {
    /// Asks for every key, whatever the mapping holds.
    fn read(fields: &mut Fields<'_, '_>) -> Self;
}

/// A mapping that is being read.
pub(crate) struct Fields<'a, 'p> {
    entries: &'a [Entry],
    location: Location,
    path: &'a Path<'a>,
    problems: &'a mut Problems<'p>,
    errors_before: usize,
    known: Vec<KnownKey>,
}

/// A key that a section asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KnownKey {
    pub(crate) name: &'static str,
    pub(crate) required: bool,
}

impl<'a, 'p> Fields<'a, 'p> {
    fn new(entries: &'a [Entry], location: Location, path: &'a Path<'a>, problems: &'a mut Problems<'p>) -> Self {
        let errors_before = problems.errors();
        Self { entries, location, path, problems, errors_before, known: Vec::new() }
    }

    /// Where the mapping stands.
    pub(crate) fn location(&self) -> Location {
        self.location
    }

    /// Nothing in this mapping is wrong so far. To be asked last, when all keys are known.
    pub(crate) fn clean(&self) -> bool {
        self.problems.errors() == self.errors_before && unknown(self.entries, &self.known).next().is_none()
    }

    /// The value of a key that must be there.
    pub(crate) fn required<T: Read>(&mut self, name: &'static str) -> Option<T> {
        let Some(entry) = self.find(name, true) else {
            let message = format!("`{}` is missing", self.path.key(name));
            self.problems
                .push(Finding::error(codes::MISSING_KEY, self.location, message).hint(format!("add `{name}:`")));
            return None;
        };
        self.value(name, entry)
    }

    /// The value of a key that has a default.
    pub(crate) fn optional<T: Read>(&mut self, name: &'static str) -> Option<T> {
        self.find(name, false).and_then(|entry| self.value(name, entry))
    }

    fn find(&mut self, name: &'static str, required: bool) -> Option<&'a Entry> {
        self.known.push(KnownKey { name, required });
        self.entries.iter().find(|entry| &*entry.key == name)
    }

    fn value<T: Read>(&mut self, name: &'static str, entry: &Entry) -> Option<T> {
        let path = self.path.key(name);
        if entry.value.is_null() {
            let message = format!("`{path}` has no value");
            self.problems.push(Finding::error(codes::NO_VALUE, entry.key_location, message));
            return None;
        }
        T::read(&entry.value, &path, self.problems)
    }

    fn report_unknown_keys(self) {
        let Self { entries, path, problems, known, .. } = self;
        let names = || known.iter().map(|known| known.name);
        for entry in unknown(entries, &known) {
            let message = format!("`{}` is not a key of {}", quoted_part(&entry.key), path.described());
            let list = names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let hint = match explain::did_you_mean(&entry.key, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known keys are {list}"),
            };
            problems.push(Finding::error(codes::UNKNOWN_KEY, entry.key_location, message).hint(hint));
        }
    }
}

fn unknown<'a>(entries: &'a [Entry], known: &[KnownKey]) -> impl Iterator<Item = &'a Entry> {
    entries.iter().filter(|entry| !known.iter().any(|known| known.name == &*entry.key))
}

impl<T: Section> Read for T {
    fn read(node: &Node, path: &Path<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let Kind::Map(entries) = &node.kind else {
            let hint = match &node.kind {
                Kind::Scalar(scalar) => match scalar.text.split_once(' ') {
                    Some((word, _)) => format!("is a `:` missing behind `{}`?", quoted_part(word)),
                    None => "write `key: value` lines below it".to_owned(),
                },
                _ => "write `key: value` lines below it, without `- `".to_owned(),
            };
            problems.push(wrong_type(node, path, "a mapping").hint(hint));
            return None;
        };
        let mut fields = Fields::new(entries, node.location, path, problems);
        let section = <T as Section>::read(&mut fields);
        fields.report_unknown_keys();
        Some(section)
    }
}

impl<T: Read> Read for List<T> {
    fn read(node: &Node, path: &Path<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let Kind::List(nodes) = &node.kind else {
            let hint = match &node.kind {
                Kind::Scalar(scalar) => format!("write a list: `[{}]`", quoted_part(&scalar.text)),
                _ => "begin every entry with `- `".to_owned(),
            };
            problems.push(wrong_type(node, path, "a list").hint(hint));
            return None;
        };
        let mut items = Vec::with_capacity(nodes.len());
        for (index, node) in nodes.iter().enumerate() {
            let path = path.item(index);
            if node.is_null() {
                problems.push(
                    Finding::error(codes::NO_VALUE, node.location, format!("`{path}` has no value"))
                        .hint("give the entry a value, or remove it".to_owned()),
                );
            } else {
                items.extend(T::read(node, &path, problems));
            }
        }
        let complete = items.len() == nodes.len();
        Some(Self { items, location: node.location, complete })
    }
}

impl<T: Value> Read for Spanned<T> {
    fn read(node: &Node, path: &Path<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let Kind::Scalar(scalar) = &node.kind else {
            problems.push(wrong_type(node, path, T::EXPECTED).secret(T::SECRET));
            return None;
        };
        let parsed = T::parse(&scalar.text).and_then(|value| match spelling::<T>(scalar, path) {
            Some(complaint) => Err(complaint),
            None => Ok(value),
        });
        match parsed {
            Ok(value) => Some(Self { value, location: node.location }),
            Err(why) => {
                problems.push(Finding::explained(why, node.location).secret(T::SECRET));
                None
            }
        }
    }
}

/// A text that YAML takes for a number, or the other way round: other programs would read something else than we do.
fn spelling<T: Value>(scalar: &Scalar, path: &Path<'_>) -> Option<Diagnostic> {
    let shown = if T::SECRET { "it".to_owned() } else { format!("`{}`", quoted_part(&scalar.text)) };
    let (message, hint) = match (T::FORM, scalar.meaning()) {
        (Form::Text, Meaning::Text) | (Form::Number, Meaning::Integer) | (Form::Switch, Meaning::Bool) => return None,
        (Form::Text, meaning) => (
            format!("`{path}` must be text, but YAML reads {shown} as {}", article(meaning)),
            if T::SECRET {
                "put it in quotes".to_owned()
            } else {
                format!("put it in quotes: \"{}\"", quoted_part(&scalar.text))
            },
        ),
        (Form::Switch, _) => {
            (format!("`{path}` must be true or false, but {shown} is text"), format!("write {shown} without quotes"))
        }
        (Form::Number, _) => {
            (format!("`{path}` must be a number, but {shown} is text"), format!("write {shown} without quotes"))
        }
    };
    Some(Diagnostic::new(codes::WRONG_TYPE, message).with_hint(hint))
}

fn wrong_type(node: &Node, path: &Path<'_>, expected: &str) -> Finding {
    let found = match &node.kind {
        Kind::List(_) => "a list",
        Kind::Map(_) => "a mapping",
        Kind::Scalar(scalar) => article(scalar.meaning()),
    };
    Finding::error(codes::WRONG_TYPE, node.location, format!("{} must be {expected}, but is {found}", path.described()))
}

fn article(meaning: Meaning) -> &'static str {
    match meaning {
        Meaning::Null => "nothing",
        Meaning::Bool => "true or false",
        Meaning::Integer | Meaning::Float => "a number",
        Meaning::Text => "text",
    }
}

/// The keys a section asks for.
#[cfg(test)]
pub(crate) fn known_keys<T: Section>() -> Vec<KnownKey> {
    let sources = crate::source::Sources::cluster("");
    let mut problems = Problems::of(&sources);
    let path = Path::root();
    let mut fields = Fields::new(&[], Location::whole(crate::location::FileId(0)), &path, &mut problems);
    T::read(&mut fields);
    let mut known = fields.known;
    known.sort();
    known
}
