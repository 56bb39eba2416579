//! Preflight by hand: what a node would report, without a cluster and without a run.
//!
//! ```text
//! files of a directory ─► a Run that is none ─► all checks of the driver ─► problems, warnings, what it would become
//!                                        └─► payload in a directory of its own (0700), removed whatever comes of it
//! ```
//! The checks are those of a run, and read only. What a run keeps in its state directory is kept elsewhere here, so a run that is
//! under way on this node loses nothing.

mod elsewhere;
mod show;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use explain::Diagnostic;
use host::{Disk, Host, HostError};
use nodekit::cleanup::tree;
use upgrades::{Command, Driver, NodeReport, Order};

use self::elsewhere::Elsewhere;
pub use self::show::show;
use crate::{Run, Secret, drivers, node, paths};

/// Below it there is room for a payload, and it is there on every machine.
const TEMPORARY: &str = "/var/tmp";

/// What was found.
#[derive(Debug)]
pub struct Preflight {
    /// For each of these the node would be refused.
    pub problems: Vec<Diagnostic<String>>,
    /// What is good to know.
    pub warnings: Vec<String>,
    /// What the node is and would become: `from`, `to`, `target`.
    pub described: BTreeMap<String, String>,
}

/// Makes all checks of the driver with this Secret, which messages call `name`.
pub async fn preflight(driver: Driver, secret: Secret, name: &str, host: &Host) -> Result<Preflight, HostError> {
    let own = Own::make(host)?;
    let order = Order {
        by_agent: false,
        version: NodeReport::FORMAT,
        run: "by-hand".to_owned(),
        command: Command::Check,
        driver,
        secret: name.to_owned(),
        apply_seconds: 0,
        confirm_seconds: 0,
        goes_back: true,
    };
    let run = Run { node: "this node".to_owned(), order, secret: Arc::new(secret) };
    let found = node::preflight(drivers::of(driver), &run, &own.host(host)).await;
    own.remove()?;
    Ok(Preflight { problems: found.problems, warnings: found.warnings, described: found.described })
}

/// A directory that is there for one preflight.
struct Own {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
}

impl Own {
    /// One of this name that is there already is refused.
    fn make(host: &Host) -> Result<Self, HostError> {
        let dir = Path::new(TEMPORARY).join(format!("blackstart-preflight-{}", std::process::id()));
        host.disk.create_dir(&dir, 0o700)?;
        Ok(Self { disk: host.disk.clone(), dir })
    }

    /// The same machine, whose state directory is this one.
    fn host(&self, host: &Host) -> Host {
        let disk = Elsewhere { disk: self.disk.clone(), from: paths::STATE_DIR.into(), to: self.dir.clone() };
        Host { disk: Arc::new(disk), ..host.clone() }
    }

    fn remove(&self) -> Result<(), HostError> {
        tree::remove(&*self.disk, &self.dir)
    }
}

impl Drop for Own {
    /// Where the user has stopped it. Nothing can be done about a directory that stays, and its name says whose it was.
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            tracing::warn!("{}", explain::chain(&error));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use host::RealCommands;

    use super::*;

    #[tokio::test]
    async fn all_problems_at_once_and_nothing_stays() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("var/tmp")).unwrap();
        fs::create_dir_all(root.path().join("var/lib/blackstart-reprovision/payload")).unwrap();
        fs::write(root.path().join("var/lib/blackstart-reprovision/note.json"), "of a run").unwrap();
        let host = Host { commands: Arc::new(RealCommands), ..Host::rooted(root.path()) };
        for (driver, codes) in
            [(Driver::Rhel, ["BS-IPB-013", "BS-IPB-070"]), (Driver::Rhcos, ["BS-IPB-013", "BS-IPB-042"])]
        {
            let found = preflight(driver, Secret::default(), "./worker-01", &host).await.unwrap();
            let seen: Vec<&str> = found.problems.iter().map(|problem| problem.code.as_str()).collect();
            assert!(codes.iter().all(|code| seen.contains(code)), "{driver}: {seen:?}");
            let names_it = found.problems.iter().any(|problem| problem.message.contains("./worker-01"));
            assert!(names_it || driver == Driver::Rhcos, "{:?}", found.problems);
        }
        let names = |dir: &str| fs::read_dir(root.path().join(dir)).unwrap().count();
        assert_eq!(names("var/tmp"), 0);
        assert_eq!(names("var/lib/blackstart-reprovision"), 2, "what is there of a run stays as it is");
    }

    #[test]
    fn one_that_is_stopped_leaves_nothing() {
        let root = tempfile::tempdir().unwrap();
        for dir in ["var/tmp", "var/lib"] {
            fs::create_dir_all(root.path().join(dir)).unwrap();
        }
        let host = Host::rooted(root.path());
        let own = Own::make(&host).unwrap();
        let elsewhere = own.host(&host);
        host::create_dir_all(&*elsewhere.disk, &paths::payload(), 0o700).unwrap();
        host::write_atomic(&*elsewhere.disk, &paths::payload().join("raw"), b"a token", 0o600).unwrap();
        assert_eq!(fs::read_dir(root.path().join("var/tmp")).unwrap().count(), 1);
        assert!(!root.path().join("var/lib/blackstart-reprovision").exists(), "not in the state directory");
        assert!(Own::make(&host).is_err(), "a directory that is there is another's");
        drop(own);
        assert_eq!(fs::read_dir(root.path().join("var/tmp")).unwrap().count(), 0);
    }
}
