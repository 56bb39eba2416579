//! Writes of this master's API server, held back where they enter etcd.
//!
//! Its packets to etcd are dropped for a moment, and TCP sends them again. The kernel itself lets them through after two
//! seconds: whatever becomes of the agent, nobody is held back for longer.

use std::time::Duration;

use host::{Cmd, Host};
use join::server::{Done, Writes};
use spec::ports;
use tokio::time::{Instant, sleep};

/// Whoever resets the node removes it.
const TABLE: &str = "table inet blackstart-hold";
/// The number of writes that a member has not answered yet, among its figures.
const PENDING: &str = "etcd_server_proposals_pending ";
/// They are answered in milliseconds. Much longer would be an outage of its own.
const PATIENCE: Duration = Duration::from_millis(800);
/// What has come in a moment ago may not be counted yet.
const PAUSE: Duration = Duration::from_millis(10);

/// The API server speaks to etcd on loopback, and nobody else does.
pub(super) struct AtTheSocket {
    pub(super) host: Host,
}

impl Writes for AtTheSocket {
    fn hold(&self) -> Done<'_> {
        Box::pin(async {
            self.nft(format!("{TABLE}\ndelete {TABLE}\n{}", table())).await?;
            let answered = answered().await;
            if answered.is_err() {
                self.release().await?;
            }
            answered
        })
    }

    fn release(&self) -> Done<'_> {
        Box::pin(self.nft(format!("{TABLE}\ndelete {TABLE}\n")))
    }
}

impl AtTheSocket {
    async fn nft(&self, rules: String) -> Result<(), String> {
        let done = self.host.commands.run(&Cmd::new("nft").args(["-f", "-"]).input(rules)).await;
        done.map(drop).map_err(|error| explain::chain(&error))
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

/// Returns when this master's member has answered every write that was under way.
async fn answered() -> Result<(), String> {
    let until = Instant::now() + PATIENCE;
    let mut quiet = 0;
    while quiet < 2 {
        quiet = if pending().await? == 0 { quiet + 1 } else { 0 };
        if Instant::now() > until {
            return Err("etcd has not answered the writes before in time".to_owned());
        }
        sleep(PAUSE).await;
    }
    Ok(())
}

async fn pending() -> Result<u64, String> {
    let url = format!("http://127.0.0.1:{}/metrics", ports::ETCD_METRICS);
    let asked = async { reqwest::Client::new().get(&url).timeout(PATIENCE).send().await?.text().await };
    let figures = asked.await.map_err(|error| explain::chain(&error))?;
    in_figures(&figures).ok_or_else(|| format!("{url} does not tell of pending writes"))
}

fn in_figures(figures: &str) -> Option<u64> {
    figures.lines().find_map(|line| line.strip_prefix(PENDING))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

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
