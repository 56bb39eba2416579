//! Steps, and the runner that carries them through crashes. It knows nothing of Kubernetes.
//!
//! A [`Step`] says how to look at the machine, what to change, and when the promise is kept. A [`Playbook`] is a list
//! of steps with an order between them. The [`Runner`] alone holds the machine's lock, writes the ledger, emits events,
//! retries, waits and stops at a cancellation:
//!
//! ```text
//! look (observe, plan, judge) ── nothing to change and promise kept ──────────────► verified
//!   │                                                                               ▲
//!   └─ changes ─► ledger: started, with how to undo ─► apply each ─► look until met ┘
//! ```
//!
//! After a crash the next run starts from the top: what is verified is only looked at, what was started is looked at
//! and completed. The ledger is never used to decide that something is done; it remembers what to take back.

pub mod codes;
mod event;
mod ledger;
mod lock;
mod patience;
mod playbook;
mod reversal;
mod run;
mod schedule;
mod step;
mod undo;

pub use event::{Event, SCHEMA_VERSION as EVENT_SCHEMA_VERSION, Sink, State};
pub use ledger::{Ledger, LedgerError, LedgerStore, Opened, Progress, StepRecord};
pub use lock::{Holder, LockError, acquire as lock_machine};
pub use playbook::{Playbook, PlaybookError};
pub use reversal::{Notes, Reversal, TakeBack};
pub use run::{Report, RunError, Runner, StepFailure, StepPlan, StepReversal, Tuning, UndoReport};
pub use step::{About, Step, StepError, Verdict};
pub use undo::Undo;
