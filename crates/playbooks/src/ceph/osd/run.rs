//! The OSDs of this node run, and Ceph knows that they are up.

use std::{path::Path, time::Duration};

use ::ceph::{answers::OsdStatus, paths};
use engine::{About, Act, Notes, Planned, Step, StepError, Undo, Verdict};
use host::{Change, Content, Host};
use spec::{Node, Osd, OsdStore};

use super::{
    super::{
        cached_probe::CachedProbe,
        client,
        daemon::{self, Daemon, Kind},
        ids, undo,
    },
    stores::{self, BLOCK},
};
use crate::service;
use nodekit::systemd;

const RELOAD: &str = "reload";

/// How often units and sockets are looked at.
const CACHED_FOR: Duration = Duration::from_millis(500);

/// The daemons of a node's OSDs.
pub(crate) struct Run {
    listed: Vec<Osd>,
    probe: CachedProbe<Vec<Found>>,
}

/// One OSD as it was found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    daemon: Daemon,
    seen: daemon::Seen,
    /// What its unit needs besides, on a device.
    missing: Vec<Change>,
    status: Option<OsdStatus>,
}

impl Run {
    pub(crate) fn new(node: &Node) -> Self {
        Self { listed: node.osds.clone(), probe: CachedProbe::new(CACHED_FOR) }
    }

    async fn check(&self, host: &Host) -> Result<Vec<Found>, StepError> {
        let disk = &*host.disk;
        let Some(ours) = paths::own_fsid(disk)? else { return Ok(Vec::new()) };
        let made = stores::made(disk, &ours)?;
        let mut found = Vec::new();
        for osd in &self.listed {
            // One that is not made is the business of the step before.
            let Some(id) = made.get(osd.store.path()) else { continue };
            let daemon = Daemon::new(Kind::Osd, id.to_string());
            let is_device = matches!(osd.store, OsdStore::Device(_));
            let wanted = is_device.then(|| device_is_given(*id)).into_iter().collect();
            found.push(Found {
                seen: daemon.check(host).await?,
                missing: Change::missing(wanted, disk)?,
                status: ::ceph::osd(*id).await.map_err(|error| client::failed(&error))?,
                daemon,
            });
        }
        Ok(found)
    }

    async fn act(&self, key: &str, host: &Host) -> Result<(), StepError> {
        if key == RELOAD {
            return systemd::systemctl(host, &["daemon-reload"]).await.map(drop);
        }
        let Some(ours) = paths::own_fsid(&*host.disk)? else { return Ok(()) };
        for id in stores::made(&*host.disk, &ours)?.values() {
            let daemon = Daemon::new(Kind::Osd, id.to_string());
            if daemon.is_start(key) {
                daemon.start(host).await?;
            }
        }
        Ok(())
    }
}

/// A device belongs to root again after every boot, and the daemon does not run as root.
fn device_is_given(id: u32) -> Change {
    let unit = Kind::Osd.unit(&id.to_string());
    let block = paths::osd(id).join(BLOCK);
    let text = format!(
        "# Written by blackstart: the device belongs to root after every boot.\n\
         [Service]\nExecStartPre=+/bin/chown --dereference ceph:ceph {}\n",
        block.display()
    );
    Change::File {
        path: Path::new("/etc/systemd/system").join(format!("{unit}.d")).join("blackstart.conf"),
        mode: 0o644,
        content: Content::Plain(text.into_bytes()),
    }
}

impl Step for Run {
    type Seen = Vec<Found>;
    type Undo = Stopped;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::OSD, "Start the OSDs", "they store what is given to Ceph, and copy it among each other")
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Found>, StepError> {
        self.probe.ask(async || self.check(host).await).await
    }

    fn plan(&self, found: &Vec<Found>) -> Result<Vec<Planned>, StepError> {
        let mut changes: Vec<Planned> = found.iter().flat_map(|osd| Planned::files(&osd.missing)).collect();
        if !changes.is_empty() {
            changes.push(Planned::act(RELOAD, "let systemd read what has changed"));
        }
        changes.extend(found.iter().flat_map(|osd| osd.daemon.plan(&osd.seen)));
        Ok(changes)
    }

    fn verify(&self, found: &Vec<Found>) -> Verdict {
        let is_waited_for = |osd: &&Found| !osd.status.as_ref().is_some_and(OsdStatus::is_active);
        let progress: Vec<&str> =
            found.iter().map(|osd| osd.status.as_ref().map_or("silent", |status| status.state.as_str())).collect();
        let Some(waits) = found.iter().find(is_waited_for) else { return Verdict::Met };
        let what = match &waits.status {
            Some(status) => format!("{} to be up; it is {}", waits.daemon.unit(), status.state),
            None => waits.daemon.silence(&waits.seen),
        };
        Verdict::Waiting { what, progress: progress.join(" ") }
    }

    async fn act(&self, Act { key, .. }: &Act, host: &Host) -> Result<(), StepError> {
        let done = self.act(key, host).await;
        self.probe.forget().await;
        done
    }

    fn deadline(&self) -> Duration {
        Duration::from_mins(3)
    }
}

/// The daemons, which go before their data.
pub(crate) struct Stopped;

impl Undo for Stopped {
    const ONLY_LIVE: bool = true;

    fn shows(&self) -> Vec<String> {
        vec![format!("stop {}", Kind::Osd.unit("*"))]
    }

    async fn before(&self, host: &Host) -> Result<Notes, StepError> {
        let disk = &*host.disk;
        let Some(ours) = paths::own_fsid(disk)? else { return Ok(Notes::new()) };
        for id in undo::ours_of(disk, Kind::Osd, &ours)? {
            service::stop(host, &Kind::Osd.unit(&id)).await?;
        }
        Ok(Notes::new())
    }

    /// Whatever it is called, it was started, and it has been stopped.
    async fn act(&self, _key: &str, _host: &Host) -> Result<(), StepError> {
        Ok(())
    }

    /// The files beside its unit are gone.
    async fn after(&self, host: &Host) -> Result<(), StepError> {
        systemd::systemctl(host, &["daemon-reload"]).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_unit_on_a_device_needs() {
        let Change::File { path, content, .. } = device_is_given(3) else { panic!("a file") };
        insta::assert_snapshot!(format!("{}\n{}", path.display(), String::from_utf8_lossy(content.bytes())));
    }
}
