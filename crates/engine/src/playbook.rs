//! A list of steps and the order between them.
//!
//! A step may only come after steps that stand above it in the list. So there are no cycles, and the list reads in the
//! order in which things happen.

use explain::{Code, Explain};

use crate::{About, Step, codes, step::AnyStep};

/// A named list of steps.
pub struct Playbook {
    name: &'static str,
    steps: Vec<Entry>,
}

pub(crate) struct Entry {
    pub(crate) about: About,
    pub(crate) step: Box<dyn AnyStep>,
    /// Indices of the steps that must be verified first.
    pub(crate) after: Vec<usize>,
}

/// A list that makes no sense: a mistake of ours, found by the playbook's own test.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaybookError {
    /// Two steps have the same id.
    #[error("step `{0}` is listed twice")]
    Twice(String),
    /// A step comes after one that is not above it in the list.
    #[error("step `{step}` comes after `{after}`, which is not above it in the list")]
    UnknownOrder {
        /// The step.
        step: String,
        /// What it names.
        after: String,
    },
}

impl Explain for PlaybookError {
    fn code(&self) -> Code {
        codes::PLAYBOOK
    }
}

impl Playbook {
    /// An empty list.
    pub fn new(name: &'static str) -> Self {
        Self { name, steps: Vec::new() }
    }

    /// Adds a step that starts once all steps named in `after` are verified. Steps without an order between them run in
    /// parallel.
    pub fn step<S: Step>(mut self, step: S, after: &[&str]) -> Result<Self, PlaybookError> {
        let about = Step::about(&step);
        if self.position(&about.id).is_some() {
            return Err(PlaybookError::Twice(about.id.into_owned()));
        }
        let find = |id: &&str| {
            let unknown = || PlaybookError::UnknownOrder { step: about.id.to_string(), after: (*id).to_owned() };
            self.position(id).ok_or_else(unknown)
        };
        let after = after.iter().map(find).collect::<Result<_, _>>()?;
        self.steps.push(Entry { about, step: Box::new(step), after });
        Ok(self)
    }

    /// The playbook's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The steps' texts, in the order of the list.
    pub fn about(&self) -> impl Iterator<Item = &About> {
        self.steps.iter().map(|entry| &entry.about)
    }

    pub(crate) fn steps(&self) -> &[Entry] {
        &self.steps
    }

    pub(crate) fn position(&self, id: &str) -> Option<usize> {
        self.steps.iter().position(|entry| entry.about.id == id)
    }
}
