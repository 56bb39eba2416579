//! The kinds of values a description is made of, one file each: how it is read, what the schema says of it, and what
//! is shown to a person who got it wrong.
//!
//! To add one: a type with an implementation of [`Value`] in a new file; the reader and the schema do the rest.

mod add_on;
mod address;
mod endpoint;
mod gateway;
mod hardware;
mod interface;
mod kms;
mod mac;
mod name;
mod network;
mod number;
mod role;
mod size;
mod store;
mod switch;
mod token;
mod ttl;
mod unlisted;
mod version;

use std::borrow::Cow;

use explain::{Code, Diagnostic};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{
    excerpt::quoted_part,
    location::{List, Spanned},
};

pub(crate) use add_on::{AddOnKind, ManifestPath};
pub(crate) use gateway::Gateway;
pub(crate) use hardware::{DmiSerial, DmiUuid};
pub(crate) use kms::{KmsEndpoint, KmsName, KmsTimeout};
pub use mac::NotAMac;
pub(crate) use name::{ClusterName, Domain, NodeName};
pub(crate) use number::{Copies, Port, PrefixLength};
pub(crate) use size::{DEFAULT_MEMORY_TARGET, FileSize, MemoryTarget};
pub(crate) use store::{DevicePath, StoreFile};
pub(crate) use switch::Switch;
pub(crate) use token::is_example as is_example_token;
pub(crate) use version::DEFAULT_VERSION;

/// A value that is written as a single scalar.
pub(crate) trait Value: Sized {
    /// What it is, with its article: `an IP address`.
    const EXPECTED: &'static str;
    /// What YAML must see.
    const FORM: Form = Form::Text;
    /// Whether it must never be shown.
    const SECRET: bool = false;

    /// The value, or why the text is none.
    fn parse(text: &str) -> Result<Self, Diagnostic>;

    /// What an editor needs to know.
    fn schema() -> Schema;
}

/// How a scalar must be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Number,
    Switch,
}

/// "`text` is not `what`".
pub(crate) fn is_not(code: Code, text: &str, what: &str) -> Diagnostic {
    match text {
        "" => Diagnostic::new(code, format!("an empty text is not {what}")),
        _ => Diagnostic::new(code, format!("`{}` is not {what}", quoted_part(text))),
    }
}

impl<T: Value> JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::EXPECTED.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        T::schema()
    }
}

impl<T: JsonSchema> JsonSchema for List<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("list of {}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": generator.subschema_for::<T>() })
    }
}

/// `word` is one of `choices`, or a complaint that lists them.
fn choose<T: Copy>(code: Code, what: &str, word: &str, choices: &[(&str, T)]) -> Result<T, Diagnostic> {
    if let Some((_, value)) = choices.iter().find(|(name, _)| *name == word) {
        return Ok(*value);
    }
    let names = || choices.iter().map(|(name, _)| *name);
    let list = names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let hint = match explain::did_you_mean(word, names()) {
        Some(near) => format!("did you mean `{near}`? possible are {list}"),
        None => format!("possible are {list}"),
    };
    Err(is_not(code, word, what).with_hint(hint))
}

/// What the tables of the value tests compare: the value, or the message and its hint.
#[cfg(test)]
fn outcome<T: Value + std::fmt::Debug>(text: &str) -> String {
    match T::parse(text) {
        Ok(value) => format!("{value:?}"),
        Err(Diagnostic { code, message, hint }) => {
            let hint = if hint == code.fix { String::new() } else { format!(" ({hint})") };
            format!("{} {message}{hint}", code.id.trim_start_matches("BS-SPEC-"))
        }
    }
}
