//! What a build tells while it works. It never prints: the caller does.

use std::time::Duration;

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

/// Listens to a build; called from several threads.
pub trait Progress: Send + Sync {
    /// Is told what happens.
    fn update(&self, update: &Update<'_>);
}

impl<F: Fn(&Update<'_>) + Send + Sync> Progress for F {
    fn update(&self, update: &Update<'_>) {
        self(update);
    }
}
