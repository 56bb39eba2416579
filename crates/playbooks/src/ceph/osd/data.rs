//! Every listed device or file holds the data of an OSD.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use ::ceph::{
    Client, Entity, Fsid, codes,
    device::{self, Content},
    paths,
};
use engine::{About, Act, Notes, Planned, Step, StepError, Undo, Verdict};
use host::{Change, Disk, Host, Kind as What};
use spec::{Node, Osd, OsdStore};

use super::{
    super::{cached_probe::CachedProbe, client, daemon::Kind, ids, leave, undo::Daemons},
    adopt,
    begun::Begun,
    make,
    run::Stopped,
    stores::{self, StoreState},
};

const MAKE: &str = "make ";
const WIPE: &str = "wipe ";
const ADOPT: &str = "adopt ";
const TIDY: &str = "tidy ";

/// How often devices are looked at and monitors asked, while there are none.
const CACHED_FOR: Duration = Duration::from_secs(3);

/// The data of a node's OSDs.
pub(crate) struct Data {
    listed: Vec<Osd>,
    probe: CachedProbe<Seen>,
}

/// What was found.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// As they are listed; none before this node has its keys.
    stores: Vec<StoreState>,
    /// Directories for files that are still to be made.
    directories: Vec<Change>,
    /// Why no OSD can be made now.
    silence: Option<String>,
}

impl Data {
    pub(crate) fn new(node: &Node) -> Self {
        Self { listed: node.osds.clone(), probe: CachedProbe::new(CACHED_FOR) }
    }

    async fn check(&self, host: &Host) -> Result<Seen, StepError> {
        let Some(ours) = paths::own_fsid(&*host.disk)? else {
            return Ok(Seen { stores: Vec::new(), directories: Vec::new(), silence: None });
        };
        let stores = stores::check(host, &self.listed, &ours).await?;
        let is_needed = stores.iter().any(|state| matches!(state, StoreState::ToBeMade { .. }));
        let silence = if is_needed { self.silence(host).await? } else { None };
        Ok(Seen { stores, directories: self.directories(&*host.disk)?, silence })
    }

    /// Why the monitors cannot be asked for a number.
    async fn silence(&self, host: &Host) -> Result<Option<String>, StepError> {
        let bootstrap = Client::new(host, Entity::BootstrapOsd, paths::BOOTSTRAP_OSD_KEYRING);
        match bootstrap.osds().await {
            Ok(_) => Ok(None),
            Err(error) if error.is_transient() => Ok(Some(error.to_string())),
            Err(error) => Err(client::failed(&error)),
        }
    }

    /// Those that files lie in and that do not exist.
    fn directories(&self, disk: &dyn Disk) -> Result<Vec<Change>, StepError> {
        let mut missing = Vec::new();
        for osd in &self.listed {
            if let (OsdStore::File { .. }, Some(dir)) = (&osd.store, osd.store.path().parent())
                && !disk.exists(dir)?
            {
                missing.push(Change::Directory { path: dir.to_path_buf(), mode: 0o755 });
            }
        }
        missing.dedup();
        Ok(missing)
    }

    fn of_key<'a>(&'a self, key: &str, verb: &str) -> Option<&'a Osd> {
        let path = key.strip_prefix(verb)?;
        self.listed.iter().find(|osd| osd.store.path().display().to_string() == path)
    }
}

impl Step for Data {
    type Seen = Seen;
    type Undo = Stores;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::OSD_DATA, "Make the OSDs", "what Ceph stores lies on the devices that cluster.yaml lists")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        self.probe.ask(async || self.check(host).await).await
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let mut changes = Planned::files(&seen.directories);
        let (mut refused, mut hints) = (Vec::new(), Vec::new());
        for (osd, state) in self.listed.iter().zip(&seen.stores) {
            let path = osd.store.path().display();
            let act = |verb: &str, what: String| Planned::act(format!("{verb}{path}"), what);
            match state {
                StoreState::Made { has_leftover: false, .. } => {}
                StoreState::Made { id, .. } => changes.push(act(TIDY, format!("remove what making osd.{id} has left"))),
                StoreState::ToBeMade { destroying } => {
                    changes.extend(destroying.as_ref().map(|seen| act(WIPE, format!("wipe {path}: {seen}"))));
                    changes.push(act(MAKE, format!("make an OSD on {path}")));
                }
                StoreState::Lost { osd } => {
                    changes.push(act(ADOPT, format!("make the files of the OSD {osd} again, whose data is on {path}")));
                }
                StoreState::Refused { seen, can_be_wiped } => {
                    refused.push(format!("{path} is not free: {seen}"));
                    hints.extend(can_be_wiped.then(|| path.to_string()));
                }
            }
        }
        if !refused.is_empty() {
            return Err(refusal(&refused, &hints));
        }
        Ok(if seen.silence.is_some() { Vec::new() } else { changes })
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        match &seen.silence {
            Some(why) => {
                Verdict::Waiting { what: format!("the monitors, to make OSDs; {why}"), progress: String::new() }
            }
            None => Verdict::Met,
        }
    }

    async fn act(&self, Act { key, .. }: &Act, host: &Host) -> Result<(), StepError> {
        self.probe.forget().await;
        let Some(ours) = paths::own_fsid(&*host.disk)? else { return Ok(()) };
        if let Some(osd) = self.of_key(key, MAKE) {
            make::make(host, osd, &ours).await
        } else if let Some(osd) = self.of_key(key, ADOPT) {
            adopt::adopt(host, &osd.store, &ours).await
        } else if let Some(osd) = self.of_key(key, WIPE) {
            make::wipe(host, osd.store.path()).await
        } else if let Some(osd) = self.of_key(key, TIDY) {
            make::tidy(&*host.disk, osd.store.path())
        } else {
            Ok(())
        }
    }

    /// Monitors of other machines may still be starting.
    fn deadline(&self) -> Duration {
        Duration::from_mins(10)
    }
}

fn refusal(refused: &[String], can_be_wiped: &[String]) -> StepError {
    let error = StepError::new(codes::STORE_IN_USE, refused.join("; "));
    if can_be_wiped.is_empty() {
        return error;
    }
    error.with_hint(format!(
        "nothing was changed; if what is on {} may be destroyed, list it with `wipe: true` in cluster.yaml",
        can_be_wiped.join(", ")
    ))
}

/// The data of OSDs, in whatever state.
pub(crate) struct Stores;

impl Undo for Stores {
    fn shows(&self) -> Vec<String> {
        let wiped = "remove what OSDs of this cluster have stored on this machine".to_owned();
        Daemons(Kind::Osd).shows().into_iter().chain([wiped]).collect()
    }

    async fn before(&self, host: &Host) -> Result<Notes, StepError> {
        let disk = &*host.disk;
        let Some(ours) = paths::own_fsid(disk)? else { return Ok(Notes::new()) };
        // A run that was killed may have started one that the ledger does not know of.
        if host.is_live {
            Stopped.before(host).await?;
        }
        let (made, begun) = (stores::made(disk, &ours)?, Begun::all(disk)?);
        let stores = made.keys().chain(begun.iter().map(|begun| &begun.store));
        let mut stores: Vec<&PathBuf> = stores.collect();
        stores.dedup();
        for store in stores {
            forget(host, store, &ours, &begun).await?;
        }
        let mut notes = Notes::new();
        for id in made.values().filter(|_| host.is_live) {
            notes.extend(leave::forget_osd(host, &id.to_string()).await);
        }
        Daemons(Kind::Osd).before(host).await?;
        Ok(notes)
    }

    /// Whatever it is called, it has gone with the OSD.
    async fn act(&self, _key: &str, _host: &Host) -> Result<(), StepError> {
        Ok(())
    }
}

/// A file of ours is removed, a device of ours is emptied; anything else stays as it is.
async fn forget(host: &Host, store: &Path, ours: &Fsid, begun: &[Begun]) -> Result<(), StepError> {
    let Some(meta) = host.disk.meta(store)? else { return Ok(()) };
    let is_file = meta.kind == What::File;
    let content = device::check(host, store, is_file).await.map_err(|error| StepError::from_explained(&error))?;
    let is_begun = |osd: &Fsid| begun.iter().any(|begun| begun.uuid == *osd);
    match content {
        Content::Osd(label) if label.cluster.as_ref() == Some(ours) || is_begun(&label.osd) => {}
        // Made for an OSD and never written to.
        Content::Empty if is_file => {}
        _ => return Ok(()),
    }
    if is_file { Ok(host::remove_file(&*host.disk, store)?) } else { make::wipe(host, store).await }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn data(paths: &[&str]) -> Data {
        let osd = |path: &&str| Osd { store: OsdStore::Device(PathBuf::from(path)), wipe: false };
        Data { listed: paths.iter().map(osd).collect(), probe: CachedProbe::new(CACHED_FOR) }
    }

    #[test]
    fn what_is_done_with_each_place() {
        let data = data(&["/dev/a", "/dev/b", "/dev/c", "/dev/d", "/dev/e"]);
        let stores = vec![
            StoreState::Made { id: 1, has_leftover: false },
            StoreState::Made { id: 2, has_leftover: true },
            StoreState::ToBeMade { destroying: None },
            StoreState::ToBeMade { destroying: Some("it holds a file system (ext4)".into()) },
            StoreState::Lost { osd: Fsid::parse("6a8f1f3e-0d6c-4a43-9d0e-2f1f4d1c9b10").unwrap() },
        ];
        let seen = Seen { stores: stores.clone(), directories: Vec::new(), silence: None };
        let shown: Vec<String> = data.plan(&seen).unwrap().iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(shown.join("\n"));
        let silent = Seen { stores, directories: Vec::new(), silence: Some("no majority".into()) };
        assert_eq!(data.plan(&silent).unwrap(), []);
        assert!(matches!(data.verify(&silent), Verdict::Waiting { .. }));
    }

    #[test]
    fn one_place_that_is_not_free_stops_all_and_every_one_is_named() {
        let stores = vec![
            StoreState::ToBeMade { destroying: None },
            StoreState::Refused { seen: "it holds a partition table (gpt)".into(), can_be_wiped: true },
            StoreState::Refused { seen: "there is no such device".into(), can_be_wiped: false },
        ];
        let error = data(&["/dev/a", "/dev/b", "/dev/c"])
            .plan(&Seen { stores, directories: Vec::new(), silence: None })
            .unwrap_err();
        assert_eq!(explain::Explain::code(&error), codes::STORE_IN_USE);
        insta::assert_snapshot!(format!("{error}\n{}", explain::Explain::advice(&error)));
    }
}
