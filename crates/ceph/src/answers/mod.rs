//! What Ceph answers, as far as it is needed. Fields that are not listed are passed over: every release adds some.

mod health;
mod mgr;
mod mon;
mod osd;
mod status;
mod tree;
mod versions;

pub use health::{Check, Health};
pub use mgr::MgrMap;
pub use mon::{MonStatus, Quorum};
pub use osd::{Osd, OsdMap, OsdStatus};
pub use status::Status;
pub use tree::{Leaf, Tree};
pub use versions::Versions;
