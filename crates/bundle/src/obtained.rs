//! What building hands over to assembling: components that are in the cache.

use crate::{Component, SourceKind, cache::Stored};

/// A component that is in the cache now.
pub(crate) struct Obtained {
    pub(crate) component: &'static Component,
    pub(crate) source: SourceKind,
    pub(crate) content: Content,
}

/// What the cache holds for a component.
pub(crate) enum Content {
    /// Its programs.
    Programs(Vec<Stored>),
    /// An image that was built elsewhere, and its name.
    Image(Stored, String),
}
