//! What this master's API server asks of etcd, held back where it enters.
//!
//! Its packets to etcd are dropped for a moment, and TCP sends them again. The rule ends by itself after two seconds, by the
//! kernel's clock: whatever becomes of the agent, no writer is held back for long.

use std::time::Duration;

use host::{Cmd, Host};
use join::server::{Done, Writes};
use reqwest::Client;
use spec::ports;
use tokio::time::{Instant, sleep};

/// A reset of the node removes it.
const TABLE: &str = "table inet blackstart-hold";
/// The number of writes that a member has not answered yet, among its figures.
const PENDING: &str = "etcd_server_proposals_pending ";
/// They are answered in milliseconds. Much longer would be an outage of its own.
const DEADLINE: Duration = Duration::from_millis(800);
/// What has come in a moment ago may not be counted yet: so many looks in a row show none, with a pause after each.
const CHECKS: u8 = 3;
const PAUSE: Duration = Duration::from_millis(10);

/// The API server speaks to etcd on loopback. So do steps of the bootstrap and `diagnose`, which can wait as well; other
/// masters and the agent itself use the node's address, and are not held.
pub(super) struct AtTheSocket {
    host: Host,
    /// Where this master's member serves its metrics.
    figures: String,
}

impl AtTheSocket {
    pub(super) fn new(host: &Host) -> Self {
        Self { host: host.clone(), figures: format!("http://127.0.0.1:{}/metrics", ports::ETCD_METRICS) }
    }

    async fn nft(&self, rules: String) -> Result<(), String> {
        let done = self.host.commands.run(&Cmd::new("nft").args(["-f", "-"]).input(rules)).await;
        done.map(drop).map_err(|error| explain::chain(&error))
    }

    /// Returns when this master's member has answered every write that was under way.
    async fn answered(&self, client: &Client) -> Result<(), String> {
        let until = Instant::now() + DEADLINE;
        let mut quiet = 0;
        while quiet < CHECKS {
            quiet = if self.pending(client).await? == 0 { quiet + 1 } else { 0 };
            if Instant::now() > until {
                return Err("etcd has not answered the writes before in time".to_owned());
            }
            sleep(PAUSE).await;
        }
        Ok(())
    }

    async fn pending(&self, client: &Client) -> Result<u64, String> {
        let asked = async { client.get(&self.figures).timeout(DEADLINE).send().await?.text().await };
        let figures = asked.await.map_err(|error| explain::chain(&error))?;
        in_figures(&figures).ok_or_else(|| format!("{} does not report pending writes", self.figures))
    }
}

impl Writes for AtTheSocket {
    fn hold(&self) -> Done<'_> {
        Box::pin(async {
            let client = tls::loopback_client().map_err(|error| explain::chain(&error))?;
            self.nft(format!("{TABLE}\ndelete {TABLE}\n{}", table())).await?;
            tracing::info!("writes to etcd are held back for a moment: another master hands over");
            let answered = self.answered(&client).await;
            if answered.is_err()
                && let Err(error) = self.release().await
            {
                tracing::warn!(error, "writes to etcd go on by themselves after two seconds");
            }
            answered
        })
    }

    fn release(&self) -> Done<'_> {
        Box::pin(self.nft(format!("{TABLE}\ndelete {TABLE}\n")))
    }
}

fn table() -> String {
    let port = ports::ETCD_CLIENT;
    format!(
        "{TABLE} {{
	set held {{
		type inet_service
		flags timeout
		elements = {{ {port} timeout 2s }}
	}}
	chain input {{
		type filter hook input priority filter; policy accept;
		iif lo ip daddr 127.0.0.1 tcp dport @held drop
	}}
}}
"
    )
}

fn in_figures(figures: &str) -> Option<u64> {
    figures.lines().find_map(|line| line.strip_prefix(PENDING))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::{Scripted, agent};

    /// On a machine whose etcd serves these metrics, or none.
    async fn at_the_socket(figures: Option<&'static str>, commands: &Arc<Scripted>) -> AtTheSocket {
        let tcp = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = agent("master-01", commands).host;
        let socket = AtTheSocket { host, figures: format!("http://{}/", tcp.local_addr().unwrap()) };
        if let Some(figures) = figures {
            let router = axum::Router::new().route("/", axum::routing::get(move || async move { figures }));
            tokio::spawn(async move { axum::serve(tcp, router).await });
        }
        socket
    }

    #[tokio::test]
    async fn held_until_released_and_only_where_writes_can_be_seen_to_end() {
        let with_nft = Arc::new(Scripted::default());
        with_nft.answer("nft -f -", "");
        let quiet = quiet_with(&with_nft).await;
        quiet.hold().await.unwrap();
        assert_eq!(with_nft.ran(), ["nft -f -"]);
        quiet.release().await.unwrap();
        with_nft.ran();
        for figures in [Some("etcd_server_proposals_pending 2\n"), Some("etcd_server_has_leader 1\n"), None] {
            at_the_socket(figures, &with_nft).await.hold().await.unwrap_err();
            assert_eq!(with_nft.ran(), ["nft -f -"; 2], "held, and let go at once: {figures:?}");
        }
        let without_nft = Arc::new(Scripted::default());
        quiet_with(&without_nft).await.hold().await.unwrap_err();
    }

    async fn quiet_with(commands: &Arc<Scripted>) -> AtTheSocket {
        at_the_socket(Some("etcd_server_proposals_pending 0\n"), commands).await
    }

    #[test]
    fn the_table() {
        insta::assert_snapshot!(table());
    }

    #[test]
    fn pending_writes_are_found_among_all_figures() {
        let figures = "# TYPE etcd_server_proposals_pending gauge\netcd_server_proposals_pending 3\n";
        assert_eq!(in_figures(figures), Some(3));
        assert_eq!(in_figures("etcd_server_has_leader 1\n"), None);
    }
}
