//! Nodes worked on in place: the manifests of `infrastructure/in-place` on a real cluster, a real reboot; for `rhel` real dnf and rpm,
//! for `rhcos` real podman, a real registry and real ostree.
//!
//! `cargo test --workspace --test reprovision`, as root; plain `cargo test` leaves it out. `CHECKS='part|part'` makes only the
//! checks whose names hold one of these, `BLACKSTART_REPROVISION_LAB=NAME` on a lab that is there already and stays. To add one:
//! a function in the file of its theme, and its line in the list there.
//!
//! What is no real part is a stand-in, and is called one: the server that gives out payloads (`stand_in_api.py`), and the
//! machines, which are Debian with Debian's dnf and rpm and packages made here. So nothing here speaks of `SELinux`,
//! subscriptions or cri-o.
//!
//! For `rhcos` the machine-config-daemon is a stand-in too (`stand_in_mcd.py`): real podman runs it, from an image of the real registry,
//! and it does what the real one is documented to do. So is rpm-ostree (`stand_in_rpm_ostree.py`): its deployments are real ostree's, and
//! only which of them is booted is pretended. What the driver made is judged by others: real Ignition writes the same payload, and
//! `OpenShift`'s own CRD takes the `MachineConfig`, by its Go module, which needs `go` and a module proxy.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a helper that fails is a test that fails")]
#![expect(clippy::print_stderr, reason = "a test with many checks says which one it is at")]

mod agents;
mod api;
#[path = "../support/cases.rs"]
mod cases;
mod demo;
mod given;
mod held;
mod machine;
mod node;
mod openshift;
mod oracles;
mod plans;
mod refused;
mod registry;
mod rhcos;
mod rhel;
mod served;
mod struck;
#[path = "../cluster/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "shared with suites that need more of it")]
mod support;
mod untold;

use std::mem::ManuallyDrop;

use cases::in_turn;
use support::{Check, Cluster, TestLab, turn};

/// The only master. It is worked on last of all.
const MASTER: &str = "master-01";
/// What things happen to.
const WORKER: &str = "worker-01";
/// It serves payloads and packages, and is a node beside the other.
const SERVER: &str = "worker-02";
/// What takes half a minute each has its turn with one seed of so many.
const TURNS: usize = 3;

#[test]
fn nodes_are_worked_on_in_place() {
    let _turn = turn();
    let borrowed = std::env::var("BLACKSTART_REPROVISION_LAB").ok();
    let is_borrowed = borrowed.is_some();
    let cluster = ManuallyDrop::new(borrowed.map_or_else(made, |name| Cluster { lab: TestLab { name } }));
    let turns = in_turn(
        &[refused::IN_TURN, rhel::IN_TURN, plans::CHECKS, struck::CHECKS, agents::CHECKS].concat(),
        TURNS as u64,
    );
    let of_rhcos = in_turn(rhcos::IN_TURN, rhcos::IN_TURN.len() as u64);
    let lists: &[&[Check]] = &[given::CHECKS, refused::CHECKS, rhel::CHECKS, &turns, &of_rhcos];
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| cluster.check(lists)));
    if !is_borrowed {
        drop(ManuallyDrop::into_inner(cluster));
    }
    if let Err(panic) = ended {
        std::panic::resume_unwind(panic);
    }
}

/// What the guide has for a reader to type, in a lab of its own: the turn of one commit of three.
#[test]
fn the_demo_of_the_guide_ends_well() {
    let _turn = turn();
    let is_wanted = match std::env::var("CHECKS") {
        Ok(wanted) => wanted.split('|').any(|part| "demo of the guide".contains(part)),
        Err(_) => !in_turn(&[()], 3).is_empty(),
    };
    if !is_wanted {
        return;
    }
    let printed = demo::play();
    assert!(printed.contains(" Done "), "{printed}");
    assert!(printed.contains("stage 1 of w-1, kubelet active\nstage 2 of w-1, kubelet inactive\n"), "{printed}");
}

/// Three nodes, of which two have packages by dnf.
fn made() -> Cluster {
    let cluster = Cluster::sealed(1, 2);
    for name in [MASTER, WORKER, SERVER] {
        cluster.install(&cluster.sealed_dir(name), name);
    }
    cluster.await_ready(&[MASTER, WORKER, SERVER]);
    machine::prepare(&cluster);
    api::serve(&cluster);
    cluster
}
