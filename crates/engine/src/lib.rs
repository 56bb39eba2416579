//! Steps, and the runner that carries them through crashes. It knows nothing of Kubernetes.
//!
//! A [`Step`] says how to look at the machine, what to change, and when the promise is kept; its [`Undo`] says how that is
//! undone. A [`Playbook`] is a list of steps with an order between them. The [`Runner`] alone holds the machine's lock, writes the ledger, emits events,
//! retries, waits and stops at a cancellation:
//!
//! ```text
//! look (observe, plan, verify) ── nothing to change and promise kept ──────────────► verified
//!   │                                                                               ▲
//!   └─ changes ─► ledger: started, with how to undo ─► apply each ─► look until met ┘
//! ```
//!
//! After a crash the next run starts from the top: what is verified is only looked at, what was started is looked at
//! and completed. The ledger is never used to decide that something is done; it remembers what to undo.

mod choice;
pub mod codes;
mod deadline;
mod event;
mod ledger;
mod lock;
mod planned;
mod playbook;
mod run;
mod schedule;
mod step;
mod step_error;
mod step_id;
mod undo;
mod undo_entry;

pub use choice::ChoiceError;
pub use event::{Event, SCHEMA_VERSION as EVENT_SCHEMA_VERSION, Sink, State};
pub use ledger::{Ledger, LedgerError, LedgerStore, Opened, Progress, StepRecord};
pub use lock::{Holder, LockError, RENEWAL, acquire as lock_machine};
pub use planned::{Act, Planned};
pub use playbook::{Playbook, PlaybookBuilder, PlaybookError};
pub use run::{Report, RunError, Runner, StepFailure, StepPlan, StepUndo, Tuning, UndoReport};
pub use step::{About, Step, Verdict};
pub use step_error::StepError;
pub use step_id::StepId;
pub use undo::{FilesOnly, Notes, Permits, Stays, Undo, Undos};
pub use undo_entry::UndoEntry;
