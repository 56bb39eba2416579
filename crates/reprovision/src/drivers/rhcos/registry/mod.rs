//! Whether a registry would give an image to this node: it is asked for the very manifest, with the very credentials.
//!
//! ```text
//! HEAD manifest ─► 200                                    it would
//!        └─ 401 ─► Basic: again with name and password
//!                  Bearer: GET realm (with them) ─► token ─► again with it
//! ```
//! That a registry answers at all says nothing: it may lack the image, or the node the right to it.

mod challenge;
mod client;
mod credentials;
mod trust;

pub(super) use client::{Client, Reply};
pub(super) use credentials::Credentials;
pub(super) use trust::{roots, usable};
