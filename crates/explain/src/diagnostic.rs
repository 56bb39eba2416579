//! What went wrong, as one value from where it is found to every place that shows it: the terminal, JSON, a run record, a
//! report to the cluster, an Event.
//!
//! ```text
//! an error (Explain) ─► Diagnostic ─► event · run record · report · refusal ─► Diagnostic<String> ─► terminal, JSON
//! ```
//! The code is a constant where the error is made. Where it is read back, from a file or another machine, it is only text:
//! another version may have written it.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::{Code, plain};

/// What went wrong: what was seen, the code for it, what to do. No field ever holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic<C = Code> {
    /// The stable code.
    pub code: C,
    /// What was seen, with its causes.
    pub message: String,
    /// What to do: in this very case, else the code's own `fix`.
    pub hint: String,
}

impl Diagnostic {
    /// With the code's own advice.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: code.fix.to_owned() }
    }

    /// What to do in this very case.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// As it is read back.
    pub fn recorded(self) -> Diagnostic<String> {
        Diagnostic { code: self.code.id.to_owned(), message: self.message, hint: self.hint }
    }
}

impl Diagnostic<String> {
    /// Every text put through this.
    #[must_use]
    pub fn map(self, text: impl Fn(&str) -> String) -> Self {
        Self { code: text(&self.code), message: text(&self.message), hint: text(&self.hint) }
    }

    /// The same without control characters: it comes from another machine, and is about to be shown.
    #[must_use]
    pub fn plain(self) -> Self {
        self.map(|text| plain(text).into_owned())
    }
}

impl<C: fmt::Display> fmt::Display for Diagnostic<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// What there is to report: something that went wrong, or a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Message<C = Code> {
    /// Something went wrong.
    Error(Diagnostic<C>),
    /// A sentence.
    Text {
        /// The sentence.
        message: String,
        /// What to do, where there is something.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    },
}

impl<C> Message<C> {
    /// A sentence.
    pub fn text(message: impl Into<String>) -> Self {
        Self::Text { message: message.into(), hint: None }
    }

    /// The sentence, or what was seen.
    pub fn message(&self) -> &str {
        match self {
            Self::Error(Diagnostic { message, .. }) | Self::Text { message, .. } => message,
        }
    }

    /// What to do, where there is something.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Error(error) => Some(&error.hint),
            Self::Text { hint, .. } => hint.as_deref(),
        }
    }

    /// What went wrong, if something did.
    pub fn error(&self) -> Option<&Diagnostic<C>> {
        if let Self::Error(error) = self { Some(error) } else { None }
    }
}

impl Message {
    /// As it is read back.
    pub fn recorded(self) -> Message<String> {
        match self {
            Self::Error(error) => Message::Error(error.recorded()),
            Self::Text { message, hint } => Message::Text { message, hint },
        }
    }
}

impl Message<String> {
    /// The same without control characters.
    #[must_use]
    pub fn plain(self) -> Self {
        let plain = |text: String| plain(&text).into_owned();
        match self {
            Self::Error(error) => Self::Error(error.plain()),
            Self::Text { message, hint } => Self::Text { message: plain(message), hint: hint.map(plain) },
        }
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: Code = Code { id: "BS-TEST-001", meaning: "a test", fix: "read it" };

    /// What is written by one version is read by another, whose codes may be others.
    #[test]
    fn what_is_written_is_read_back() {
        let hint = Some("run it again".to_owned());
        for (message, json) in [
            (Message::Error(Diagnostic::new(CODE, "no")), r#"{"code":"BS-TEST-001","message":"no","hint":"read it"}"#),
            (Message::text("fine"), r#"{"message":"fine"}"#),
            (Message::Text { message: "stopped".into(), hint }, r#"{"message":"stopped","hint":"run it again"}"#),
        ] {
            assert_eq!(serde_json::to_string(&message).unwrap(), json);
            assert_eq!(serde_json::from_str::<Message<String>>(json).unwrap(), message.recorded());
        }
    }

    #[test]
    fn the_case_counts_more_than_the_code() {
        let error = Diagnostic::new(CODE, "no").with_hint("do that");
        assert_eq!((error.to_string(), error.hint.as_str()), ("BS-TEST-001: no".into(), "do that"));
    }

    #[test]
    fn what_another_machine_reported_cannot_drive_the_terminal() {
        let evil = || "\u{1b}[2Jx".to_owned();
        let error = Message::Error(Diagnostic { code: evil(), message: evil(), hint: evil() });
        for message in [error, Message::Text { message: evil(), hint: Some(evil()) }] {
            assert!(!format!("{:?}", message.plain()).contains("u{1b}"));
        }
    }
}
