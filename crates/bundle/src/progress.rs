//! What a build reports while it works. It never prints: the caller does.

use std::{fmt, time::Duration};

use crate::SourceKind;

/// Something happened to a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update<'a> {
    /// The component's name.
    pub component: &'a str,
    /// What happens now.
    pub state: State,
    /// Since the work on this component began.
    pub elapsed: Duration,
}

/// What happens to a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Another process is at it.
    Waiting,
    /// A source cannot provide it; with its reason. The next source is tried.
    PassedOver(SourceKind, String),
    /// Packages are being installed for it.
    Installing(Vec<&'static str>),
    /// A source is being copied or downloaded.
    Fetching(SourceKind),
    /// It is being compiled.
    Compiling,
    /// It was in the cache, from this source.
    Cached(SourceKind),
    /// It was just made, from this source.
    Made(SourceKind),
}

impl State {
    /// True when there is no more to come for this component.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Cached(_) | Self::Made(_))
    }
}

impl fmt::Display for Update<'_> {
    /// One line for a person.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.component)?;
        match &self.state {
            State::Waiting => f.write_str("waiting for another process that makes it"),
            State::PassedOver(source, reason) => write!(f, "not from {}: {reason}", source.as_str()),
            State::Installing(packages) => write!(f, "installing {}", packages.join(", ")),
            State::Fetching(source) => write!(f, "fetching from {}", source.as_str()),
            State::Compiling => f.write_str("compiling"),
            State::Cached(source) => write!(f, "in the cache, from {}", source.as_str()),
            State::Made(source) => write!(f, "made from {} ({} s)", source.as_str(), self.elapsed.as_secs()),
        }
    }
}

/// Listens to a build; called from several threads.
pub trait Progress: Send + Sync {
    /// Gets what happens.
    fn update(&self, update: &Update<'_>);
}

impl<F: Fn(&Update<'_>) + Send + Sync> Progress for F {
    fn update(&self, update: &Update<'_>) {
        self(update);
    }
}
