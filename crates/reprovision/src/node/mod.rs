//! The program of the host's two units.
//!
//! ```text
//! follow   while the kubelet runs: observe the Node ─► next ─► act ─► note ─► report, until there is nothing more to do
//! boot     before the kubelet: the same without a cluster, until there is something to wait for
//! ```
//! The note is the only memory. It is written before what it speaks of is begun, so a process that dies anywhere is started again
//! by systemd and goes on; what was begun is begun again, and the engine observes each step before it does anything.

mod act;
mod api;
mod error;
mod next;
mod note;
mod preflight;
mod reporter;
mod units;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use host::Host;
use nodekit::{boot_id, systemd};

pub use self::error::NodeError;
use self::{
    act::Work,
    api::Api,
    next::{Action, Around, Seen, next},
    reporter::Reporter,
};
use crate::paths;
pub(crate) use preflight::preflight;
pub(crate) use units::files;

/// Between two observations of the Node.
const PAUSE: Duration = Duration::from_secs(1);

/// Who this node is, and how it reaches the API.
#[derive(Debug, Clone)]
pub struct Options {
    /// The node's name.
    pub node: String,
    /// The kubelet's kubeconfig, where it is at none of the usual places.
    pub kubeconfig: Option<PathBuf>,
}

/// Follows orders until there is nothing more to do.
pub async fn follow(host: &Host, options: &Options) -> Result<(), NodeError> {
    let _lock = lock(host)?;
    let mut api = Api::new(host, options);
    let reporter = Reporter::start(Api::new(host, options));
    let mut note = act::read(host)?;
    loop {
        // What the cluster has not heard of it cannot have decided upon: an armed node commits only once it is known to be armed.
        let seen = if reporter.is_behind() { None } else { api.observe().await };
        let boot_id = boot_id(&*host.disk)?;
        let around = Around {
            boot_id: &boot_id,
            uptime: systemd::uptime(&*host.disk)?.unwrap_or_default(),
            node: seen.as_ref().map(|seen| Seen {
                order: seen.order.as_ref(),
                is_labelled: seen.is_labelled,
                armed_for: seen.armed_for.as_deref(),
            }),
            is_boot: false,
        };
        let action = next(note.as_ref(), &around);
        if action == Action::Leave {
            reporter.flush().await;
            return units::disable(host).await;
        }
        let is_waiting = action == Action::Wait;
        note = Work { host, options, api: Some(&mut api), reporter: Some(&reporter), boot_id: &boot_id }
            .act(note, action)
            .await?;
        if let Some(note) = &note {
            reporter.show(note.report(&boot_id, host.clock.now()));
        }
        if seen.is_some_and(|seen| !seen.has_report) {
            reporter.show_again();
        }
        if is_waiting {
            reporter.await_arrival(PAUSE).await;
        }
    }
}

/// Goes on before the kubelet with what a reboot has interrupted.
pub async fn boot(host: &Host, options: &Options) -> Result<(), NodeError> {
    let _lock = lock(host)?;
    let boot_id = boot_id(&*host.disk)?;
    let mut note = act::read(host)?;
    loop {
        let uptime = systemd::uptime(&*host.disk)?.unwrap_or_default();
        let around = Around { boot_id: &boot_id, uptime, node: None, is_boot: true };
        match next(note.as_ref(), &around) {
            Action::Wait | Action::Leave => return Ok(()),
            action => {
                note = Work { host, options, api: None, reporter: None, boot_id: &boot_id }.act(note, action).await?;
            }
        }
    }
}

/// One process on this machine, whichever unit has started it.
fn lock(host: &Host) -> Result<Box<dyn host::disk::LockGuard>, NodeError> {
    let dir = Path::new(paths::STATE_DIR);
    host::create_dir_all(&*host.disk, dir, 0o700)?;
    host::set_dir_mode(&*host.disk, dir, 0o700)?;
    Ok(engine::lock_machine(host, dir, "reprovision")?)
}
