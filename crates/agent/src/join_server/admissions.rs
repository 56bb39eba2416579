//! What masters remember of admitted nodes: in the API, where no two of them decide on the same state, and in a file of
//! this master, which counts while the API is away.
//!
//! ```text
//! a grant ─► evaluated on API and file together ─► API ─► file ─► answered
//! every five seconds: API ─► file, and what only the file knows ─► API
//! ```

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use explain::Explain;
use host::{Change, Disk, HostError};
use join::{
    ADMISSIONS, Admission, Admissions, Claim, Generation, Given, Refusal,
    server::{Evaluate, Kept, KeyStore, Records},
};
use kube::Client;
use kubeapi::ReconcileError;
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use crate::{Agent, AgentError};

/// The API answers within this time, or the file counts.
const DEADLINE: Duration = Duration::from_secs(3);
/// Between two checks of what other masters and `config revoke` have written.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// The same while the API does not answer: what was granted without it is to be known everywhere soon.
const EARLY: Duration = Duration::from_millis(500);

/// This master's part in it.
pub(super) struct Book {
    disk: Arc<dyn Disk>,
    state_dir: PathBuf,
    /// The API, as soon as there is a way to it.
    client: watch::Receiver<Option<Client>>,
    api_ready: watch::Receiver<bool>,
    /// What is in the file.
    known: Mutex<Admissions>,
    /// One decision at a time.
    turn: tokio::sync::Mutex<()>,
}

impl Book {
    /// A file that cannot be understood is an error: what it says was meant to hold.
    pub(super) fn open(
        agent: &Agent,
        client: &watch::Receiver<Option<Client>>,
        api_ready: &watch::Receiver<bool>,
    ) -> Result<Self, AgentError> {
        let (disk, state_dir) = (Arc::clone(&agent.host.disk), agent.paths.state_dir.clone());
        let known = Mutex::new(Admissions::of_file(&*disk, &state_dir)??);
        let (client, api_ready) = (client.clone(), api_ready.clone());
        Ok(Self { disk, state_dir, client, api_ready, known, turn: tokio::sync::Mutex::default() })
    }

    fn all(&self) -> Admissions {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts in what was learnt. The file is written first: nothing is known that a restart forgets.
    fn learn(&self, more: &Admissions) -> Result<(), HostError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = known.clone();
        all.merge(more);
        if all != *known {
            host::create_dir_all(&*self.disk, &self.state_dir, 0o755)?;
            let change: Change = all.to_file(&self.state_dir);
            change.apply(&*self.disk)?;
            *known = all;
        }
        Ok(())
    }

    /// What the API says in the end when `verify` decides on what it holds; `None` if it does not answer.
    async fn in_the_api<E>(
        &self,
        evaluate: impl Fn(Admissions) -> Result<Admissions, E>,
    ) -> Result<Option<Admissions>, E>
    where
        E: From<join::Unreadable>,
    {
        let client = self.client.borrow().clone().filter(|_| *self.api_ready.borrow());
        let Some(client) = client else { return Ok(None) };
        let decide = |held: Option<&_>| {
            let held = held.map(Admissions::read).transpose()?.unwrap_or_default();
            let wanted = evaluate(held.clone())?;
            Ok((wanted != held).then(|| wanted.data()))
        };
        match timeout(DEADLINE, kubeapi::reconcile_secret(&client, ADMISSIONS, decide)).await {
            Ok(Ok(data)) => Ok(Some(Admissions::read(&data)?)),
            Ok(Err(ReconcileError::Content(error))) => Err(error),
            Ok(Err(ReconcileError::Api(error))) => {
                tracing::debug!("admissions are decided without the API: {}", explain::chain(&error));
                Ok(None)
            }
            Err(_) => Ok(None),
        }
    }

    async fn decided(&self, node: &str, evaluate: Evaluate<'_>) -> Result<(), Refusal> {
        let _turn = self.turn.lock().await;
        let decide = |held: Admissions| {
            let mut all = held;
            all.merge(&self.all());
            let evaluated = evaluate(all.of(node))?;
            all.add(node, &evaluated);
            Ok::<_, Refusal>(all)
        };
        let decided = match self.in_the_api(decide).await? {
            Some(decided) => decided,
            None => decide(Admissions::default())?,
        };
        self.learn(&decided).map_err(|error| Refusal::Failure { why: explain::chain(&error) })
    }

    /// Takes up what others have written, and writes to the API what only this master knows.
    async fn exchange(&self) -> Result<bool, AgentError> {
        let _turn = self.turn.lock().await;
        let own = self.all();
        let both = |mut held: Admissions| {
            held.merge(&own);
            Ok::<_, join::Unreadable>(held)
        };
        let heard = self.in_the_api(both).await?;
        heard.as_ref().map_or(Ok(()), |heard| self.learn(heard))?;
        Ok(heard.is_some())
    }

    /// A master that has the cluster's keys from the beginning is the one they went to. Once an operator has armed its name
    /// for another machine, it is not for this one to say.
    fn note_own(&self, agent: &Agent, key_store: &dyn KeyStore) -> Result<(), AgentError> {
        let (name, own) = (&agent.node.name, self.known(&agent.node.name));
        if own.armed != 0 || own.given.is_some() || !key_store.admits() {
            return Ok(());
        }
        let claim = Claim::ensure(&*self.disk, &self.state_dir)?.hash();
        let when = Generation::at(agent.host.clock.now()).0;
        let given = Some(Given { when, claim, machine: key_store.machine_id() });
        let mut learnt = Admissions::default();
        learnt.add(name, &Admission { given, ..own });
        Ok(self.learn(&learnt)?)
    }

    /// Keeps file and API alike, for ever. What fails here keeps no node from being let in: it is tried again.
    pub(super) async fn follow(&self, agent: &Agent, key_store: &dyn KeyStore) {
        loop {
            let exchanged = async {
                self.note_own(agent, key_store)?;
                self.exchange().await
            };
            let heard = exchanged.await.unwrap_or_else(|error| {
                let code = error.code().id;
                tracing::warn!(
                    code,
                    "cannot exchange admission records with the other masters: {}",
                    explain::chain(&error)
                );
                true
            });
            sleep(if heard { CHECK_INTERVAL } else { EARLY }).await;
        }
    }
}

impl Records for Book {
    fn known(&self, node: &str) -> Admission {
        self.all().of(node)
    }

    fn decide<'a>(&'a self, node: &'a str, evaluate: Evaluate<'a>) -> Kept<'a> {
        Box::pin(self.decided(node, evaluate))
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use join::{JoinKey, wire::ClusterState};

    use super::*;
    use crate::testing::{Scripted, agent};

    struct Held {
        admits: bool,
    }

    impl KeyStore for Held {
        fn cluster_state(&self) -> ClusterState {
            ClusterState::Member
        }

        fn machine_id(&self) -> Option<String> {
            Some(join::machine_id("this"))
        }

        fn admits(&self) -> bool {
            self.admits
        }

        fn join_keys(&self) -> Vec<JoinKey> {
            Vec::new()
        }

        fn rotation_key(&self) -> Option<String> {
            None
        }

        fn keys_for<'a>(&'a self, _node: &'a str, _machine_id: Option<&'a str>) -> join::server::Keys<'a> {
            Box::pin(async { Err("none".to_owned()) })
        }
    }

    fn open(agent: &Agent) -> Book {
        Book::open(agent, &watch::channel(None).1, &watch::channel(false).1).unwrap()
    }

    fn given_to(claim: &str) -> Given {
        Given { when: 10, claim: claim.to_owned(), machine: None }
    }

    #[tokio::test]
    async fn what_was_granted_without_the_api_is_known_after_a_restart() {
        let agent = agent("master-01", &Arc::new(Scripted::default()));
        let give = |claim: &'static str| -> Evaluate<'static> {
            Box::new(move |admission| admission.give("master-02", given_to(claim)))
        };
        let book = open(&agent);
        book.decide("master-02", give("a")).await.unwrap();
        assert!(book.decide("master-02", give("b")).await.is_err());
        let again = open(&agent);
        assert_eq!(again.known("master-02").given, Some(given_to("a")));
        again.decide("master-02", give("a")).await.unwrap();
        assert_eq!(again.decide("master-02", give("b")).await.unwrap_err().code().id, "BS-JOIN-061");
    }

    #[tokio::test]
    async fn a_master_that_has_the_keys_is_the_one_they_went_to() {
        let agent = agent("master-01", &Arc::new(Scripted::default()));
        let book = open(&agent);
        book.note_own(&agent, &Held { admits: false }).unwrap();
        assert_eq!(book.known("master-01"), Admission::default(), "it has none yet");
        book.note_own(&agent, &Held { admits: true }).unwrap();
        let given = book.known("master-01").given.unwrap();
        let claim = Claim::ensure(&*agent.host.disk, &agent.paths.state_dir).unwrap().hash();
        assert_eq!((given.claim, given.machine), (claim, Some(join::machine_id("this"))));

        let rearmed = Box::new(|admission: Admission| Ok(admission.rearmed(Timestamp::now())));
        book.decide("master-01", rearmed).await.unwrap();
        book.note_own(&agent, &Held { admits: true }).unwrap();
        assert_eq!(book.known("master-01").given, None, "it was armed for another machine");
    }

    #[test]
    fn a_file_that_cannot_be_understood_is_not_passed_over() {
        let agent = agent("master-01", &Arc::new(Scripted::default()));
        let path = agent.paths.state_dir.join(join::ADMISSIONS_FILE);
        host::create_dir_all(&*agent.host.disk, &agent.paths.state_dir, 0o755).unwrap();
        let content = host::Content::Plain(b"hello".into());
        Change::File { path, mode: 0o600, content }.apply(&*agent.host.disk).unwrap();
        let error = Book::open(&agent, &watch::channel(None).1, &watch::channel(false).1).err().unwrap();
        assert_eq!(error.code().id, "BS-JOIN-064");
    }
}
