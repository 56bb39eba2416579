//! The PKI on a real file system, evaluated by its own plan and by outside programs.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failing unwrap in a test is the failure we want to see"
)]

mod cluster;
mod crash;
mod damage;
mod external;
mod faults;
mod inventory;
mod kubeadm;
mod machine;
mod names;
mod openssl;
mod plan;
mod renewal;
mod rotation;
mod sharing;
