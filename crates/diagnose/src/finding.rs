//! What a check found.

use explain::Code;
pub(crate) use nodekit::checking::Inconclusive;
use serde::{Serialize, Serializer};

use crate::Part;

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The stable code.
    #[serde(serialize_with = "id")]
    pub code: Code,
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
    /// It does not work, and this does not say why. Told only where no cause explains it.
    Symptom,
    /// It may be the reason: told as a cause where a symptom has no better one, else as a warning.
    Suspicion,
    /// It works today; it may not tomorrow. Explains nothing.
    Warning,
}

fn id<S: Serializer>(code: &Code, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.id)
}

impl Finding {
    /// A reason, with the code's own advice.
    pub(crate) fn cause(code: Code, part: Part, evidence: impl Into<String>) -> Self {
        Self::of(Kind::Cause, code, part, evidence)
    }

    /// Something that does not work.
    pub(crate) fn symptom(code: Code, part: Part, evidence: impl Into<String>) -> Self {
        Self::of(Kind::Symptom, code, part, evidence)
    }

    /// Something that is not as it should be, and may do no harm.
    pub(crate) fn suspicion(code: Code, part: Part, evidence: impl Into<String>) -> Self {
        Self::of(Kind::Suspicion, code, part, evidence)
    }

    /// Something to know.
    pub(crate) fn warning(code: Code, part: Part, evidence: impl Into<String>) -> Self {
        Self::of(Kind::Warning, code, part, evidence)
    }

    /// What to do in this very case.
    #[must_use]
    pub(crate) fn with_fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = fix.into();
        self
    }

    fn of(kind: Kind, code: Code, part: Part, evidence: impl Into<String>) -> Self {
        Self { code, kind, part, evidence: evidence.into(), fix: code.fix.to_owned() }
    }
}
