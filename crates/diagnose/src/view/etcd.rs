//! etcd as all its masters report it, seen from this one.

use std::{net::Ipv4Addr, time::Duration};

use etcd::{
    Access,
    survey::{self, Heard, Reported},
};
use host::Cmd;
use spec::{Node, Role, ports};

use crate::{Context, Inconclusive};

const LIMIT: Duration = Duration::from_secs(2);

/// What was heard of etcd.
pub(crate) struct EtcdView {
    own: String,
    /// What came of asking every master, and every member that they know besides.
    pub(crate) heard: Vec<Heard>,
    /// The figures of this master's member, in the form of Prometheus; empty where it does not give them.
    pub(crate) metrics: String,
}

impl EtcdView {
    /// Asks all masters at once; this one on loopback, which it has whatever happened to its address.
    pub(super) async fn read(context: &Context) -> Result<Self, Inconclusive> {
        let access = context.etcd_access()?;
        let own = context.node.name.clone();
        // A bootstrap node waits for masters: those that are members already are asked because it knows them.
        let of_bootstrap = context.node.has(Role::Bootstrap).then_some(&context.node);
        let expected: Vec<&Node> = of_bootstrap.map_or_else(|| context.cluster.masters().collect(), |own| vec![own]);
        let masters = expected.into_iter().map(|master| {
            let ip = if master.name == own { Ipv4Addr::LOCALHOST.into() } else { master.ip };
            (master.name.clone(), etcd::client_url(ip))
        });
        let (heard, metrics) = tokio::join!(survey::ask(&access, masters), metrics());
        Ok(Self { own, heard, metrics })
    }

    /// What this master's member reported, or why it did not.
    pub(crate) fn own(&self) -> Result<&Reported, &str> {
        let own = self.heard.iter().find(|one| one.name == self.own);
        own.map_or(Err("it was not asked"), |one| one.reported.as_ref().map_err(String::as_str))
    }
}

impl Context {
    /// The way to any member.
    pub(crate) fn etcd_access(&self) -> Result<Access, Inconclusive> {
        let access = Access::read(&*self.host.disk, &self.layout.kubernetes_dir);
        access.map_err(|error| Inconclusive(explain::chain(&error)))
    }

    /// What this master's member logged lately, the last line first: enough for one start and its end, and nothing of a
    /// failure that is over.
    pub(crate) async fn etcd_log(&self) -> Result<String, Inconclusive> {
        if self.static_pods().await?.get("etcd").is_some() {
            let Some(id) = self.newest_container("etcd").await else { return Ok(String::new()) };
            return self.container_log(&id).await;
        }
        // Without `--reverse`, the lines since a moment are the first ones since then.
        let which =
            ["--unit=etcd", "--since=-5min", "--reverse", "--lines=150", "--output=cat", "--no-pager", "--quiet"];
        Ok(self.host.commands.run(&Cmd::new("journalctl").args(which)).await?.stdout)
    }
}

async fn metrics() -> String {
    let read = async || {
        let http = reqwest::Client::builder().no_proxy().timeout(LIMIT).build()?;
        http.get(format!("http://127.0.0.1:{}/metrics", ports::ETCD_METRICS)).send().await?.text().await
    };
    read().await.unwrap_or_default()
}
