//! The name of a step.

use std::fmt;

use serde::Serialize;

/// What a step is called in the ledger, events, metrics and docs: stable, kebab-case.
///
/// The names of a playbook are constants in one place, made by [`step_ids!`](crate::step_ids): code that names a step that
/// does not exist, does not compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct StepId(&'static str);

impl StepId {
    /// A name that is known when the program is built.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// A name that is only known now, for example of one machine among many. It is kept until the program ends: lists of
    /// steps are made once.
    pub fn named(name: impl Into<String>) -> Self {
        Self(name.into().leak())
    }

    /// As it is written in files.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

/// Declares the names of a playbook's steps, and `ALL` of them.
#[macro_export]
macro_rules! step_ids {
    ($( $id:ident = $name:literal; )*) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub const $id: $crate::StepId = $crate::StepId::new($name);
        )*
        /// All steps of this playbook, in the order of their declaration.
        pub const ALL: &[$crate::StepId] = &[$($id),*];
    };
}
