//! Where in the user's files something stands.

use std::ops::Deref;

/// A file of [`Sources`](crate::Sources), by its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId(pub(crate) u32);

/// A stretch of text in a file. The size limit on files keeps every offset inside 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// Offset of the first byte.
    pub(crate) start: u32,
    /// Offset behind the last byte.
    pub(crate) end: u32,
    /// 1-based.
    pub(crate) line: u32,
    /// 1-based, in characters.
    pub(crate) column: u32,
}

/// A file, and where in it; no span means the file as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) file: FileId,
    pub(crate) span: Option<Span>,
}

impl Location {
    pub(crate) fn whole(file: FileId) -> Self {
        Self { file, span: None }
    }
}

/// A value, and where the user wrote it.
#[derive(Debug, Clone)]
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    pub(crate) location: Location,
}

impl<T> Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// A list, and where the user wrote it.
#[derive(Debug, Clone)]
pub(crate) struct List<T> {
    pub(crate) items: Vec<T>,
    pub(crate) location: Location,
    /// No entry was wrong and left out.
    pub(crate) complete: bool,
}
