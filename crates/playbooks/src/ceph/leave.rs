//! What Ceph has to forget when a node leaves: it should not wait for what will not come back.
//!
//! Only a monitor's node can do that, and only while the others answer. Where it cannot, the command to run is reported.

use std::path::Path;

use ::ceph::{Client, paths};
use host::Host;

/// Lets Ceph forget an OSD whose daemon has been stopped; if Ceph does not answer, what a person has to do.
pub(super) async fn forget_osd(host: &Host, id: &str) -> Option<String> {
    let by_hand = format!("`ceph osd purge {id} --yes-i-really-mean-it`");
    let reported = async {
        let admin = admin(host)?;
        admin.send(&["osd", "down", id]).await.ok()?;
        admin.send(&["osd", "purge", id, "--yes-i-really-mean-it"]).await.ok()
    };
    let note = || format!("Ceph still lists osd.{id}; on a monitor's node: {by_hand}");
    reported.await.is_none().then(note)
}

/// Lets the other monitors go on without this one; if they do not answer, what a person has to do.
pub(super) async fn forget_monitor(host: &Host, name: &str) -> Option<String> {
    let reported = async {
        let admin = admin(host)?;
        let quorum = admin.quorum().await.ok()?;
        // The last monitor has no other that goes on.
        if quorum.monmap.mons.len() > 1 && quorum.monmap.mons.iter().any(|mon| mon.name == name) {
            admin.send(&["mon", "remove", name]).await.ok()?;
        }
        Some(())
    };
    let note =
        || format!("Ceph may still list the monitor {name}; on another monitor's node: `ceph mon remove {name}`");
    reported.await.is_none().then(note)
}

fn admin(host: &Host) -> Option<Client<'_>> {
    let has_key = host.disk.exists(Path::new(paths::ADMIN_KEYRING)).unwrap_or(false);
    (host.is_live && has_key).then(|| Client::admin(host).with_short_timeout())
}
