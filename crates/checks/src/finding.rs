//! What a check found, or why it found nothing out.

use explain::Code;
use host::{CommandError, HostError};
use serde::{Serialize, Serializer};

use crate::Part;

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The stable code; advice before a bootstrap has none.
    #[serde(serialize_with = "id")]
    pub code: Option<Code>,
    /// Whether this is what must be fixed, or what follows from something else.
    pub kind: Kind,
    /// What it is about.
    pub part: Part,
    /// What was seen: the file, the line of a log, the numbers.
    pub evidence: String,
    /// What to do.
    pub fix: String,
}

/// What a finding says about its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The evidence is the reason itself: fix this.
    Cause,
    /// It does not work, and this does not say why. Reported only where no cause explains it.
    Symptom,
    /// It may be the reason: reported as a cause where a symptom has no better one, else as a warning.
    Suspicion,
    /// It works today; it may not tomorrow. Explains nothing.
    Warning,
}

#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
fn id<S: Serializer>(code: &Option<Code>, serializer: S) -> Result<S::Ok, S::Error> {
    code.map(|code| code.id).serialize(serializer)
}

impl Finding {
    /// A reason, with the code's own advice.
    pub fn cause(code: Code, part: Part, evidence: impl Into<String>) -> Self {
        Self::new(Kind::Cause, code, part, evidence)
    }

    /// Something that does not work.
    pub fn symptom(code: Code, part: Part, evidence: impl Into<String>) -> Self {
        Self::new(Kind::Symptom, code, part, evidence)
    }

    /// Something that is not as it should be, and may do no harm.
    pub fn suspicion(code: Code, part: Part, evidence: impl Into<String>) -> Self {
        Self::new(Kind::Suspicion, code, part, evidence)
    }

    /// Something to know.
    pub fn warning(code: Code, part: Part, evidence: impl Into<String>) -> Self {
        Self::new(Kind::Warning, code, part, evidence)
    }

    /// Something to know that no code stands for.
    pub fn advice(part: Part, evidence: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { code: None, kind: Kind::Warning, part, evidence: evidence.into(), fix: fix.into() }
    }

    /// What to do in this very case.
    #[must_use]
    pub fn with_fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = fix.into();
        self
    }

    /// The code as text; empty where there is none.
    pub fn id(&self) -> &'static str {
        self.code.map_or("", |code| code.id)
    }

    fn new(kind: Kind, code: Code, part: Part, evidence: impl Into<String>) -> Self {
        Self { code: Some(code), kind, part, evidence: evidence.into(), fix: code.fix.to_owned() }
    }
}

/// Why something could not be checked. That is not a finding, and is reported apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inconclusive(pub String);

impl From<HostError> for Inconclusive {
    fn from(error: HostError) -> Self {
        Self(explain::chain(&error))
    }
}

impl From<CommandError> for Inconclusive {
    fn from(error: CommandError) -> Self {
        Self(explain::chain(&error))
    }
}
