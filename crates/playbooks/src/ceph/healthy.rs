//! Ceph has nothing to complain about. Nothing is changed here: what it complains about by default is fixed before, by
//! configuration and not by muting.

use std::time::Duration;

use ::ceph::{Client, answers::Status, paths};
use engine::{About, FilesOnly, Step, StepError, Verdict};
use host::Host;
use spec::ValidatedCluster;

use super::{cached_probe::CachedProbe, client, ids};

const CACHED_FOR: Duration = Duration::from_secs(2);

/// `HEALTH_OK`, with every OSD that cluster.yaml lists.
pub(crate) struct Healthy {
    /// How many OSDs there are to be.
    osds: u32,
    status: CachedProbe<Result<Status, String>>,
}

impl Healthy {
    pub(crate) fn new(cluster: &ValidatedCluster) -> Self {
        let listed: usize = cluster.nodes().iter().map(|node| node.osds.len()).sum();
        Self { osds: u32::try_from(listed).unwrap_or(u32::MAX), status: CachedProbe::new(CACHED_FOR) }
    }

    async fn status(&self, host: &Host) -> Result<Result<Status, String>, StepError> {
        match Client::admin(host).status().await {
            Err(error) if error.is_transient() => Ok(Err(error.to_string())),
            answer => answer.map(Ok).map_err(|error| client::failed(&error)),
        }
    }
}

impl Step for Healthy {
    /// `None` in an image, and before this node has its keys.
    type Seen = Option<Result<Status, String>>;
    type Undo = FilesOnly;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::HEALTHY, "Wait for Ceph to be healthy", "Ceph works when it has nothing to complain about")
    }

    async fn observe(&self, host: &Host) -> Result<Self::Seen, StepError> {
        if paths::own_fsid(&*host.disk)?.is_none() {
            return Ok(None);
        }
        self.status.ask(async || self.status(host).await).await.map(Some)
    }

    fn verify(&self, seen: &Self::Seen) -> Verdict {
        let status = match seen {
            None => return Verdict::Met,
            Some(Err(why)) => return Verdict::Waiting { what: why.clone(), progress: String::new() },
            Some(Ok(status)) => status,
        };
        let (health, up) = (&status.health, status.osdmap.up);
        if up < self.osds {
            let what = format!("{} OSDs to be up; {up} are", self.osds);
            return Verdict::Waiting { what, progress: format!("{up} {}", health.reasons()) };
        }
        // Without a place to store anything there is nothing to be healthy.
        if health.is_ok() || self.osds == 0 {
            return Verdict::Met;
        }
        let what = format!("Ceph to be healthy; it reports {}", health.reasons());
        Verdict::Waiting { what, progress: format!("{up} {}", health.reasons()) }
    }

    /// Other machines bring their OSDs when they are ready, and Ceph takes its time to copy.
    fn deadline(&self) -> Duration {
        Duration::from_mins(10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluated(osds: u32, status: &str, up: u32) -> Option<String> {
        let check = r#"{"severity":"HEALTH_WARN","summary":{"message":"1/3 mons down"}}"#;
        let checks = if status == "HEALTH_OK" { String::new() } else { format!(r#""MON_DOWN":{check}"#) };
        let text = format!(
            r#"{{"health":{{"status":"{status}","checks":{{{checks}}}}},
                "osdmap":{{"num_osds":{up},"num_up_osds":{up},"num_in_osds":{up}}}}}"#
        );
        let step = Healthy { osds, status: CachedProbe::new(CACHED_FOR) };
        match step.verify(&Some(Ok(serde_json::from_str(&text).unwrap()))) {
            Verdict::Met => None,
            Verdict::Waiting { what, .. } => Some(what),
        }
    }

    #[test]
    fn healthy_is_with_all_osds_and_without_complaints() {
        for (osds, status, up, expected) in [
            (3, "HEALTH_OK", 3, None),
            (3, "HEALTH_OK", 2, Some("3 OSDs to be up; 2 are")),
            (3, "HEALTH_WARN", 3, Some("Ceph to be healthy; it reports MON_DOWN: 1/3 mons down")),
            (0, "HEALTH_WARN", 0, None),
        ] {
            assert_eq!(evaluated(osds, status, up).as_deref(), expected, "{osds} {status} {up}");
        }
    }
}
