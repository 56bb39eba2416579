//! Ceph's dashboard answers, with a certificate of this cluster's own.
//!
//! Three things stand in its way on a new cluster: the module `restful`, which cannot be loaded beside it; a certificate,
//! without which it waits silently; and that modules can only be switched on while a manager works. Switching one on lets
//! the managers start again, which takes half a minute.

mod user;

use std::time::Duration;

use ::ceph::{Client, answers::MgrMap, certificate, paths};
use engine::{About, Act, Planned, Stays, Step, StepError, Verdict};
use host::Host;
use spec::{Role, ValidatedCluster};

pub(super) use self::user::User;
use super::{cached_probe::CachedProbe, client, ids};

/// What Ceph calls the module, and the one that cannot be loaded beside it.
const DASHBOARD: &str = "dashboard";
const RESTFUL: &str = "restful";

/// Where the module looks for its certificate and key.
const CERTIFICATE: [&str; 2] = ["mgr/dashboard/crt", "mgr/dashboard/key"];

const DISABLE: &str = "disable-restful";
const CERTIFY: &str = "certify";
const ENABLE: &str = "enable";

const CACHED_FOR: Duration = Duration::from_secs(3);

/// The dashboard.
pub(crate) struct Dashboard {
    cluster: ValidatedCluster,
    probe: CachedProbe<Seen>,
}

/// What was found.
#[derive(Debug, Clone)]
pub(crate) enum Seen {
    /// A node that has no keys yet.
    Early,
    /// No manager can take a command.
    NoManager(String),
    /// One can.
    Known { managers: MgrMap, has_certificate: bool },
}

impl Dashboard {
    pub(crate) fn new(cluster: &ValidatedCluster) -> Self {
        Self { cluster: cluster.clone(), probe: CachedProbe::new(CACHED_FOR) }
    }

    async fn check(&self, host: &Host) -> Result<Seen, StepError> {
        let admin = Client::admin(host);
        let managers = match admin.managers().await {
            Ok(managers) if managers.available => managers,
            Ok(_) => return Ok(Seen::NoManager("a manager of Ceph to work".to_owned())),
            Err(error) if error.is_transient() => return Ok(Seen::NoManager(error.to_string())),
            Err(error) => return Err(client::failed(&error)),
        };
        let keys: Vec<String> = admin.ask(&["config-key", "ls"]).await.map_err(|error| client::failed(&error))?;
        let has_certificate = CERTIFICATE.iter().all(|wanted| keys.iter().any(|key| key == wanted));
        Ok(Seen::Known { managers, has_certificate })
    }

    /// Any of the managers may come to serve it.
    async fn certify(&self, host: &Host) -> Result<(), StepError> {
        let managers = self.cluster.with_role(Role::CephMgr);
        let names = managers.flat_map(|node| [node.name.clone(), node.hostname.clone(), node.ip.to_string()]);
        let made = certificate::make(self.cluster.name(), names.collect(), host.clock.now());
        let pair = made.map_err(|error| StepError::from_explained(&error))?;
        for (key, text) in CERTIFICATE.into_iter().zip([pair.certificate, pair.key]) {
            let output = Client::admin(host).send_with(&["config-key", "set", key, "-i", "-"], text).await;
            output.map_err(|error| client::failed(&error))?;
        }
        Ok(())
    }
}

impl Step for Dashboard {
    type Seen = Seen;
    type Undo = Stays;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::DASHBOARD, "Start Ceph's dashboard", "people see there how Ceph is")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        if paths::own_fsid(&*host.disk)?.is_none() {
            return Ok(Seen::Early);
        }
        self.probe.ask(async || self.check(host).await).await
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let Seen::Known { managers, has_certificate } = seen else { return Ok(Vec::new()) };
        let act = |key: &str, what: &str| Planned::act(key, what);
        let mut changes = Vec::new();
        if managers.is_on(RESTFUL) {
            changes.push(act(DISABLE, "switch off Ceph's module restful, which cannot be loaded beside the dashboard"));
        }
        if !has_certificate {
            changes.push(act(CERTIFY, "give the dashboard a certificate for every manager's name and address"));
        }
        if !managers.is_on(DASHBOARD) {
            changes.push(act(ENABLE, "switch on Ceph's module dashboard"));
        }
        Ok(changes)
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        let waiting = |what: String| Verdict::Waiting { progress: what.clone(), what };
        match seen {
            Seen::Early => Verdict::Met,
            Seen::NoManager(what) => waiting(what.clone()),
            Seen::Known { managers, .. } if managers.services.contains_key(DASHBOARD) => Verdict::Met,
            Seen::Known { managers, .. } => {
                waiting(format!("Ceph's dashboard to be served by the manager {}", managers.active_name))
            }
        }
    }

    async fn act(&self, Act { key, .. }: &Act, host: &Host) -> Result<(), StepError> {
        let send = async |words: &[&str]| {
            Client::admin(host).send(words).await.map(drop).map_err(|error| client::failed(&error))
        };
        let done = match key.as_str() {
            DISABLE => send(&["mgr", "module", "disable", RESTFUL]).await,
            CERTIFY => self.certify(host).await,
            _ => send(&["mgr", "module", "enable", DASHBOARD]).await,
        };
        self.probe.forget().await;
        done
    }

    /// The managers start again, all at once.
    fn deadline(&self) -> Duration {
        Duration::from_mins(5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_way_is_changed_once_a_manager_works() {
        let text = "cluster: {name: a}\nnodes: [{name: m, ip: 192.168.1.10, roles: [master, ceph-mon, ceph-mgr]}]";
        let text = text.replace("{name: a}", "{name: a, networking: {gateway: none}}");
        let step = Dashboard::new(&spec::check_text(&text).cluster.unwrap());
        let known = |modules: &[&str], has_certificate, services: &[&str]| Seen::Known {
            managers: MgrMap {
                active_name: "m".into(),
                available: true,
                modules: modules.iter().map(ToString::to_string).collect(),
                services: services.iter().map(|name| ((*name).to_owned(), "https://m:8443/".to_owned())).collect(),
                ..MgrMap::default()
            },
            has_certificate,
        };
        for (seen, keys, is_met) in [
            (Seen::Early, &[][..], true),
            (Seen::NoManager("a manager".into()), &[], false),
            (known(&["iostat", "restful"], false, &[]), &[DISABLE, CERTIFY, ENABLE], false),
            (known(&["iostat"], true, &[]), &[ENABLE], false),
            (known(&["dashboard"], true, &[]), &[], false),
            (known(&["dashboard"], true, &["dashboard"]), &[], true),
        ] {
            let planned = step.plan(&seen).unwrap();
            let planned: Vec<&str> = planned
                .iter()
                .map(|change| match change {
                    Planned::Act(Act { key, .. }) => key.as_str(),
                    other => panic!("only acts, not {other}"),
                })
                .collect();
            assert_eq!((planned.as_slice(), step.verify(&seen) == Verdict::Met), (keys, is_met), "{seen:?}");
        }
    }
}
