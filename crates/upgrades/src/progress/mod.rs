//! Progress of a node, reported to an API outside the cluster.
//!
//! ```text
//!  next::advance ─────────► Outbox (in the object's status) ─ due ─► CloudEvent ─► Destination::send ─► Answer
//!                             ▲                                                                          │
//!                             └───────────────────────────────── after ◄─────────────────────────────────┘
//! ```
//! What is to be reported is a part of the object, written with the very phase that it reports. So a controller that dies loses
//! nothing: the next one sends the first event again, with the same id. An event may arrive twice, never out of order: only the
//! first is ever under way. An answer names the event it is about, so that one that comes late removes no other.
//!
//! A node that reboots tells nothing; the controller tells it for the node. A node never waits for this unless its Secret requires it.

mod delivery;
mod destination;
mod event;
mod outbox;
mod sender;
mod signature;

pub use delivery::{Answer, Outcome};
pub use destination::{Destination, Whose};
pub use event::{CloudEvent, Data};
pub use outbox::{Event, Noted, Outbox, blocks};
pub use signature::SigningKey;
