//! Asking the masters, each in a task of its own: one that does not answer delays no other.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use explain::{Diagnostic, Explain};
use join::{Client, JoinError, Member, Trust};
use nodekit::kubeconfig::Identity;
use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};

use super::facts::Answer;

/// Between two questions. Reports come no more often than this.
const PAUSE: Duration = Duration::from_secs(1);
/// A master that takes longer does not answer.
const DEADLINE: Duration = Duration::from_secs(8);

/// Where the means to ask are found. Looked for again each time: they appear while a cluster is made.
pub(super) struct Access {
    /// The text of a kubeconfig with a certificate of the cluster, with which a master answers everything.
    pub(super) kubeconfig: Box<dyn Fn() -> Option<String> + Send + Sync>,
    /// Whom to believe without one; then a master only says who it is.
    pub(super) trust: Box<dyn Fn() -> Option<Trust> + Send + Sync>,
}

/// A master that is asked again and again.
pub(super) struct Asked {
    pub(super) name: String,
    pub(super) address: SocketAddr,
    access: Arc<Access>,
    voice: Option<Voice>,
}

/// How it is spoken to.
enum Voice {
    /// With the certificate of this kubeconfig.
    Member(String, Member),
    /// Without one.
    Stranger(Client),
}

impl Asked {
    pub(super) fn new(name: &str, address: SocketAddr, access: &Arc<Access>) -> Self {
        Self { name: name.to_owned(), address, access: access.clone(), voice: None }
    }

    /// Asks for ever and reports what came back.
    pub(super) async fn forever(mut self, emit: mpsc::Sender<(String, Answer)>) {
        loop {
            let answer = self.once().await;
            if emit.send((self.name.clone(), answer)).await.is_err() {
                return; // the receiver is gone
            }
            sleep(PAUSE).await;
        }
    }

    /// Asks once.
    pub(super) async fn once(&mut self) -> Answer {
        if let Err(error) = self.find_voice() {
            return nothing(&error);
        }
        let Some(voice) = &self.voice else { return Answer::NotAsked };
        let answer = match voice {
            Voice::Member(_, member) => timeout(DEADLINE, member.nodes()).await.map(|output| output.map(Answer::Nodes)),
            Voice::Stranger(client) => {
                timeout(DEADLINE, client.hello(None)).await.map(|output| output.map(|(_, hello)| Answer::Hello(hello)))
            }
        };
        match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => nothing(&error),
            Err(_) => {
                let message = format!("no answer from {} in {} s", self.address, DEADLINE.as_secs());
                Answer::Nothing(Diagnostic::new(join::codes::UNREACHABLE, message).recorded())
            }
        }
    }

    /// Takes the best voice there is, and keeps the one it has as long as that is the same: it holds a connection.
    fn find_voice(&mut self) -> Result<(), JoinError> {
        match ((self.access.kubeconfig)(), &self.voice) {
            (Some(text), Some(Voice::Member(known, _))) if text == *known => {}
            (Some(text), _) => {
                // What is no kubeconfig of ours is being written, or broken: `node status` says so.
                self.voice = match Identity::read(&text) {
                    Ok(Identity { certificate, key, ca }) => {
                        Some(Voice::Member(text, Member::new(vec![self.address], &ca, (&certificate, &key))?))
                    }
                    Err(_) => None,
                };
            }
            (None, Some(Voice::Stranger(_))) => {}
            (None, _) => {
                let client = |trust| Voice::Stranger(Client::new(vec![self.address], trust));
                self.voice = (self.access.trust)().map(client);
            }
        }
        Ok(())
    }
}

fn nothing(error: &JoinError) -> Answer {
    let mut why = error.diagnostic();
    if let JoinError::Unreachable { tried } = error
        && let [one] = tried.as_slice()
    {
        why.message = format!("cannot reach {}: {}", one.master, one.why);
    }
    Answer::Nothing(why.recorded())
}
