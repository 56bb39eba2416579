//! YAML text to a tree of values, each with its location.
//!
//! The only module that knows the YAML library: [`parse`] takes its events and builds [`Node`]s. Serde is left out on
//! purpose, because it stops at the first mistake and we want to report all of them.
//!
//! Hostile input is bounded: the file's size when it is read, the length of a value, the depth of nesting and
//! the number of values after aliases are followed ([`limits`]). An alias shares its target, so it costs no memory of its own.

mod parse;
mod scalar;
mod syntax;

use std::rc::Rc;

use crate::location::{Location, Span};

pub(crate) use parse::parse;
pub(crate) use scalar::{Meaning, Scalar};

/// Bounds on what a file may unfold to.
pub(crate) mod limits {
    /// Values and keys in one file, with aliases followed. 20,000 nodes with all their facts stay below it.
    pub(crate) const VALUES: usize = 500_000;
    /// Bytes in a single key or value. What follows may look at a value several times, and for each of its aliases.
    pub(crate) const SCALAR_BYTES: usize = 4096;
    /// Lists and mappings inside each other. Our files need six.
    pub(crate) const DEPTH: usize = 32;
}

/// A value in a file.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) location: Location,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Scalar(Scalar),
    List(Rc<Vec<Node>>),
    Map(Rc<Vec<Entry>>),
}

/// A key of a mapping and its value. Keys are unique.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: Rc<str>,
    pub(crate) key_location: Location,
    pub(crate) value: Node,
}

impl Node {
    /// True for `null`, `~` and nothing at all.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar(scalar) if scalar.meaning() == Meaning::Null)
    }

    fn at(self, span: Span) -> Self {
        let location = Location { file: self.location.file, span: Some(span) };
        Self { location, ..self }
    }
}
