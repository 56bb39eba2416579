//! Notices that `cluster.yaml` or a node's file has changed, and ends the agent: systemd starts it again, with the new one.
//!
//! A description with errors changes nothing: the agent goes on with what it knows, and says so once.

use std::{path::Path, time::Duration};

use host::{Disk, HostError};
use tokio::time::sleep;

use crate::{Agent, AgentError};

const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// Runs until the configuration is another, valid one.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    let known = read(&*agent.host.disk, &agent.paths.config_dir)?;
    let mut refused = known.clone();
    loop {
        sleep(CHECK_INTERVAL).await;
        let now = read(&*agent.host.disk, &agent.paths.config_dir)?;
        if now == known || now == refused {
            continue;
        }
        let checked = spec::check_dir(&agent.paths.config_dir);
        if checked.cluster.is_some() {
            tracing::info!("the configuration has changed; starting again with it");
            agent.cancel.cancel();
            return Ok(());
        }
        let first = checked.problems.first().map(|problem| problem.diagnostic.code.to_string()).unwrap_or_default();
        tracing::error!(code = first, "the configuration has changed and has errors: `blackstart check` shows them");
        refused = now;
    }
}

/// Every file of the description, with its content.
fn read(disk: &dyn Disk, dir: &Path) -> Result<Vec<(String, Vec<u8>)>, HostError> {
    let nodes = dir.join("nodes");
    let mut names = vec!["cluster.yaml".to_owned()];
    if disk.exists(&nodes)? {
        names.extend(disk.list(&nodes)?.into_iter().map(|name| format!("nodes/{name}")));
    }
    let mut files = Vec::new();
    for name in names {
        // One that is being replaced is there again at the next check.
        if let Some(content) = disk.read_optional(&dir.join(&name))? {
            files.push((name, content));
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::{fs, sync::Arc};

    use host::Host;
    use tokio::time::timeout;

    use super::*;
    use crate::testing::{Scripted, agent};

    const GOOD: &str = "cluster: {name: demo}\nnodes:\n- {name: a, ip: 10.0.0.1, roles: [master], \
                        hardware: {mac_addresses: ['52:54:00:00:00:01']}}\n";

    #[tokio::test(start_paused = true)]
    async fn only_a_valid_change_ends_the_agent() {
        let dir = tempfile::tempdir().unwrap();
        let write = |text: &str| fs::write(dir.path().join("cluster.yaml"), text).unwrap();
        write(GOOD);
        let mut agent = agent("worker-01", &Arc::new(Scripted::default()));
        agent.host = Host::real();
        agent.paths.config_dir = dir.path().to_path_buf();
        let watching = tokio::spawn({
            let agent = agent.clone();
            async move { run(&agent).await }
        });
        let goes_on = || async { assert!(timeout(CHECK_INTERVAL * 3, agent.cancel.cancelled()).await.is_err()) };
        goes_on().await;
        write("cluster: {name: demo}\n");
        goes_on().await;
        write(GOOD);
        goes_on().await;
        write(&GOOD.replace("10.0.0.1", "10.0.0.2"));
        timeout(CHECK_INTERVAL * 3, agent.cancel.cancelled()).await.unwrap();
        watching.await.unwrap().unwrap();
    }
}
