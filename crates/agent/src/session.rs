//! A client of the Kubernetes API that lives as long as its kubeconfig.
//!
//! On a node that is still being set up the kubeconfig does not exist yet: it is waited for. When it is renewed, the work
//! ends and its duty starts again, with the new certificate; so no duty has to think of renewal.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use futures::{StreamExt, stream::BoxStream};
use host::Host;
use kubeapi::kube::{
    Client,
    runtime::watcher::{self, Event},
};
use operations::outage::Outage;
use tokio::time::sleep;

use crate::{Agent, AgentError, error::why};

/// Between two checks for a file that a step of the bootstrap is about to write.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Between two checks whether a file was renewed. That happens every few months, but a rotation of CAs waits for it.
const RENEWED: Duration = Duration::from_secs(5);

/// After a failed watch: long enough not to be a burden, short enough not to delay a cluster that is starting.
const AFTER_FAILURE: Duration = Duration::from_millis(500);

/// The server ends a watch after this many seconds, before the client's own timeout would, and it is taken up again.
const WATCH_SECONDS: u32 = 25;

/// Objects per page of a list. Nodes are large, and the agent is to stay small.
const PAGE: u32 = 50;

/// The kubeconfig the agent itself works with: a worker may only read nodes, a master does everything.
pub(crate) fn kubeconfig(agent: &Agent) -> PathBuf {
    agent.paths.kubernetes_dir.join(if agent.is_master() { "super-admin.conf" } else { "agent.conf" })
}

/// The file's content, as soon as there is one.
pub(crate) async fn wait_for(host: &Host, path: &Path) -> Result<String, AgentError> {
    loop {
        if let Some(content) = host.disk.read_optional(path)?.filter(|content| !content.is_empty()) {
            return Ok(String::from_utf8_lossy(&content).into_owned());
        }
        sleep(CHECK_INTERVAL).await;
    }
}

/// Returns when the file holds something else.
pub(crate) async fn until_changed(host: &Host, path: &Path, known: &str) -> Result<(), AgentError> {
    loop {
        sleep(RENEWED).await;
        // One that is gone for a moment is being replaced, or the node is being reset, which ends the agent anyway.
        if host.disk.read_optional(path)?.is_some_and(|content| content != known.as_bytes()) {
            return Ok(());
        }
    }
}

/// Works with a client until the work fails or the kubeconfig is renewed.
pub(crate) async fn with_client<W, F>(agent: &Agent, work: W) -> Result<(), AgentError>
where
    W: FnOnce(Client) -> F,
    F: Future<Output = Result<(), AgentError>>,
{
    let path = kubeconfig(agent);
    let text = wait_for(&agent.host, &path).await?;
    let client = kubeapi::connect(&text).await?;
    tokio::select! {
        done = work(client) => done,
        changed = until_changed(&agent.host, &path, &text) => changed,
    }
}

/// How every watch here is made.
pub(crate) fn watching() -> watcher::Config {
    watcher::Config::default().timeout(WATCH_SECONDS).page_size(PAGE)
}

/// The next event of a watch. Failures are waited out: the watch goes on from where it was.
pub(crate) async fn next<K>(stream: &mut BoxStream<'_, watcher::Result<Event<K>>>, outage: &mut Outage) -> Event<K> {
    loop {
        match stream.next().await {
            // A new attempt begins with this one, whatever becomes of it.
            Some(Ok(event @ Event::Init)) => return event,
            Some(Ok(event)) => {
                outage.over();
                return event;
            }
            Some(Err(error)) => {
                outage.failed(&why(&error));
                sleep(AFTER_FAILURE).await;
            }
            // Watches of this library never end.
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::{FutureExt, stream};
    use host::{Change, Content};

    use super::*;
    use crate::testing::{Scripted, agent};

    fn write(agent: &Agent, path: &Path, text: &str) {
        let content = Content::Plain(text.into());
        Change::File { path: path.to_path_buf(), mode: 0o600, content }.apply(&*agent.host.disk).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_is_waited_for_and_its_renewal_is_noticed() {
        let agent = agent("worker-01", &Arc::new(Scripted::default()));
        let path = kubeconfig(&agent);
        assert_eq!(path, Path::new("/etc/kubernetes/agent.conf"));

        let (text, ()) = tokio::join!(wait_for(&agent.host, &path), async {
            sleep(CHECK_INTERVAL * 5).await;
            write(&agent, &path, "");
            sleep(CHECK_INTERVAL * 5).await;
            write(&agent, &path, "old");
        });
        assert_eq!(text.unwrap(), "old");

        let mut changed = Box::pin(until_changed(&agent.host, &path, "old"));
        sleep(RENEWED * 3).await;
        assert!(changed.as_mut().now_or_never().is_none());
        write(&agent, &path, "new");
        changed.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn failures_are_waited_out_and_only_an_answer_ends_an_outage() {
        let failed = || Err(watcher::Error::NoResourceVersion);
        let events = vec![Ok(Event::Init), failed(), Ok(Event::Init), failed(), failed(), Ok(Event::Apply("node"))];
        let mut stream = stream::iter(events).boxed();
        let mut outage = Outage::new("test");
        let mut seen = Vec::new();
        for _ in 0..3 {
            let event = next(&mut stream, &mut outage).await;
            seen.push((matches!(event, Event::Apply("node")), outage.lasting().is_some()));
        }
        assert_eq!(seen, [(false, false), (false, true), (true, false)]);
    }
}
