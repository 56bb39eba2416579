//! What the masters remember of each node's admissions: which secrets are worthless, and to whom the cluster's keys went.
//!
//! It is kept in a Secret of the API that only masters read, and in a file on every master, so that it also holds while
//! the API is away. Both only ever go up: two states are [merged](Admission::merge), whichever came first, and nothing
//! that one of them knows is lost. Times stand for counts (see [`Generation`]), so a writer need not have read.

use std::{collections::BTreeMap, path::Path};

use explain::{Code, Explain};
use host::{Change, Content, Disk, HostError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Refusal, codes, generation::Generation, secret::moment};

/// Namespace and name of the Secret.
pub const SECRET: (&str, &str) = ("kube-system", "blackstart-admissions");
/// The file's name in a master's state directory.
pub const FILE: &str = "admissions.json";

/// What is remembered, by node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Admissions(BTreeMap<String, Admission>);

/// What is remembered of one node. The default is that of a node that is not known yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Admission {
    /// Secrets of a lower generation are worthless.
    pub minimum: Generation,
    /// Certificates of its agent that were issued earlier are refused; unix seconds.
    pub certified_from: u32,
    /// Since when the cluster's keys may be given to a machine of this name; unix seconds, 0 for the beginning.
    pub armed: u32,
    /// To whom they went since then.
    pub given: Option<Given>,
}

/// To which machine the cluster's keys went.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Given {
    /// When, in unix seconds.
    pub when: u32,
    /// [`crate::Claim::hash`] of what the machine made before it asked.
    pub claim: String,
    /// Which machine it is, as far as it is known; see [`crate::machine_id`].
    pub machine: Option<String>,
}

/// What is kept is not what it can be.
#[derive(Debug, thiserror::Error)]
#[error("cannot parse {from}")]
pub struct Unreadable {
    from: String,
    #[source]
    source: serde_json::Error,
}

impl Explain for Unreadable {
    fn code(&self) -> Code {
        codes::ADMISSIONS
    }
}

impl From<Unreadable> for Refusal {
    /// A master that cannot read what was granted grants nothing.
    fn from(error: Unreadable) -> Self {
        Self::Failure { why: explain::chain(&error) }
    }
}

impl Admission {
    /// What both know. In any order, and as often as one likes, the result is the same.
    pub fn merge(&mut self, other: &Self) {
        self.minimum = self.minimum.max(other.minimum);
        self.certified_from = self.certified_from.max(other.certified_from);
        if other.armed > self.armed {
            (self.armed, self.given) = (other.armed, other.given.clone());
        } else if other.armed == self.armed {
            // Where two masters gave them before they knew of each other, the first one counts.
            let both = self.given.iter().chain(&other.given);
            self.given = both.min().cloned();
        }
    }

    /// A secret of this generation may be used, if none of a higher one has been.
    pub fn check(&self, node: &str, generation: Generation) -> Result<(), Refusal> {
        if generation >= self.minimum {
            return Ok(());
        }
        Err(Refusal::OldSecret { node: node.to_owned(), generation, minimum: self.minimum })
    }

    /// After a node was let in with a secret of this generation: all lower ones are worthless.
    #[must_use]
    pub fn let_in(mut self, generation: Generation) -> Self {
        self.minimum = self.minimum.max(generation);
        self
    }

    /// After the cluster's keys were given; refused if they went to another machine since the last arming.
    pub fn give(mut self, node: &str, to: Given) -> Result<Self, Refusal> {
        match &self.given {
            Some(given) if given.claim != to.claim => {
                let (when, machine) = (moment(given.when), given.machine.clone());
                Err(Refusal::KeysGiven { node: node.to_owned(), when: when.unwrap_or_default(), machine })
            }
            Some(_) => Ok(self),
            None => {
                self.given = Some(to);
                Ok(self)
            }
        }
    }

    /// The cluster's keys may be given once more.
    #[must_use]
    pub fn rearmed(mut self, now: Timestamp) -> Self {
        self.armed = Generation(self.armed).next(now).0;
        self.given = None;
        self
    }

    /// Every secret that was made so far is worthless; with `cut_off` so are its agent's certificates.
    #[must_use]
    pub fn revoked(mut self, now: Timestamp, cut_off: bool) -> Self {
        self.minimum = self.minimum.next(now);
        if cut_off {
            self.certified_from = self.certified_from.max(Generation::at(now).0);
        }
        self
    }
}

impl Admissions {
    /// What is remembered of a node.
    pub fn of(&self, node: &str) -> Admission {
        self.0.get(node).cloned().unwrap_or_default()
    }

    /// Puts in what is known of a node besides.
    pub fn add(&mut self, node: &str, admission: &Admission) {
        if *admission != Admission::default() {
            self.0.entry(node.to_owned()).or_default().merge(admission);
        }
    }

    /// Puts in all that is known elsewhere.
    pub fn merge(&mut self, other: &Self) {
        for (node, admission) in &other.0 {
            self.add(node, admission);
        }
    }

    /// From the Secret: one entry per node.
    pub fn read(data: &BTreeMap<String, String>) -> Result<Self, Unreadable> {
        let one = |(node, text): (&String, &String)| {
            let read = serde_json::from_str(text).map_err(|source| {
                let (namespace, name) = SECRET;
                Unreadable { from: format!("`{node}` in Secret {namespace}/{name}"), source }
            })?;
            Ok((node.clone(), read))
        };
        data.iter().map(one).collect::<Result<_, _>>().map(Self)
    }

    /// From a master's file; nothing is remembered where there is none.
    pub fn of_file(disk: &dyn Disk, state_dir: &Path) -> Result<Result<Self, Unreadable>, HostError> {
        let path = state_dir.join(FILE);
        let Some(bytes) = disk.read_optional(&path)? else { return Ok(Ok(Self::default())) };
        Ok(serde_json::from_slice(&bytes).map_err(|source| Unreadable { from: path.display().to_string(), source }))
    }

    /// The change that writes a master's file.
    pub fn to_file(&self, state_dir: &Path) -> Change {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        let content = Content::Plain(format!("{text}\n").into_bytes());
        Change::File { path: state_dir.join(FILE), mode: 0o600, content }
    }

    /// What the Secret should hold when all of this is put into what it holds; `None` if it holds it all.
    pub fn merged_into(
        &self,
        held: Option<&BTreeMap<String, String>>,
    ) -> Result<Option<BTreeMap<String, String>>, Unreadable> {
        let known = held.map(Self::read).transpose()?.unwrap_or_default();
        let mut all = known.clone();
        all.merge(self);
        Ok((all != known).then(|| all.data()))
    }

    /// What the Secret should hold.
    pub fn data(&self) -> BTreeMap<String, String> {
        let text = |admission: &Admission| serde_json::to_string(admission).unwrap_or_default();
        self.0.iter().map(|(node, admission)| (node.clone(), text(admission))).collect()
    }
}

#[cfg(test)]
mod tests {
    use explain::Explain;
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: u32) -> Timestamp {
        moment(seconds).unwrap()
    }

    fn given(when: u32, claim: &str) -> Given {
        Given { when, claim: claim.to_owned(), machine: Some(format!("machine of {claim}")) }
    }

    #[test]
    fn a_secret_makes_the_older_ones_worthless() {
        let admission = Admission::default().let_in(Generation(20)).let_in(Generation(10));
        for (generation, expected) in [(9, false), (10, false), (19, false), (20, true), (21, true)] {
            assert_eq!(admission.check("worker-01", Generation(generation)).is_ok(), expected, "{generation}");
        }
        let refused = admission.check("worker-01", Generation(10)).unwrap_err();
        assert_eq!(refused.code().id, "BS-JOIN-060");
        assert!(refused.to_string().contains("10 (") && refused.to_string().contains("20 ("), "{refused}");
    }

    #[test]
    fn revoking_ends_what_was_made_so_far_also_what_no_master_has_seen() {
        let revoked = Admission::default().let_in(Generation(20)).revoked(at(100), true);
        let is_good = |generation| revoked.check("worker-01", Generation(generation)).is_ok();
        assert_eq!([20, 50, 99, 100].map(is_good), [false, false, false, true]);
        assert_eq!(revoked.certified_from, 100);
        let ahead = Admission::default().let_in(Generation(500)).revoked(at(100), false);
        assert!(ahead.check("worker-01", Generation(500)).is_err(), "made by a clock that was ahead");
        assert_eq!(ahead.certified_from, 0, "only its secrets");
    }

    #[test]
    fn the_keys_go_to_one_machine_per_arming() {
        let first = Admission::default().give("master-02", given(10, "a")).unwrap();
        assert_eq!(first.clone().give("master-02", given(11, "a")), Ok(first.clone()), "it asks again after a crash");
        let refused = first.clone().give("master-02", given(12, "b")).unwrap_err();
        assert_eq!((refused.code().id, refused.is_retryable()), ("BS-JOIN-061", true));
        assert!(refused.to_string().contains("1970-01-01T00:00:10Z"), "{refused}");
        let again = first.rearmed(at(20)).give("master-02", given(21, "b")).unwrap();
        assert!(again.clone().give("master-02", given(22, "a")).is_err(), "once");
        assert_eq!((again.armed, again.given.as_ref().map(|given| given.when)), (20, Some(21)));
        assert_eq!(again.rearmed(at(5)).armed, 21, "a clock that was set back");
    }

    #[test]
    fn nothing_is_lost_between_the_file_and_the_api() {
        let mut file = Admissions::default();
        file.add("master-02", &Admission::default().give("master-02", given(10, "a")).unwrap());
        file.add("worker-01", &Admission::default());
        let data = file.merged_into(None).unwrap().unwrap();
        assert_eq!(data.keys().collect::<Vec<_>>(), ["master-02"], "nothing is remembered of the other one");
        assert_eq!(file.merged_into(Some(&data)).unwrap(), None, "once");
        let mut other = Admissions::default();
        other.add("worker-01", &Admission::default().revoked(at(50), true));
        let both = Admissions::read(&other.merged_into(Some(&data)).unwrap().unwrap()).unwrap();
        assert_eq!(both.of("worker-01").minimum, Generation(50));
        assert_eq!(both.of("master-02").given, Some(given(10, "a")));
        let broken = BTreeMap::from([("worker-01".to_owned(), "hello".to_owned())]);
        assert_eq!(file.merged_into(Some(&broken)).unwrap_err().code().id, "BS-JOIN-064", "never overwritten");

        let (disk, dir) = (host::disk::model::ModelDisk::default(), Path::new("/state"));
        assert_eq!(Admissions::of_file(&disk, dir).unwrap().unwrap(), Admissions::default());
        host::create_dir_all(&disk, dir, 0o755).unwrap();
        both.to_file(dir).apply(&disk).unwrap();
        assert_eq!(Admissions::of_file(&disk, dir).unwrap().unwrap(), both);
    }

    fn any_admission() -> impl Strategy<Value = Admission> {
        let given = proptest::option::of((0..4_u32, "[ab]").prop_map(|(when, claim)| given(when, &claim)));
        (0..4_u32, 0..4_u32, 0..3_u32, given).prop_map(|(minimum, certified_from, armed, given)| Admission {
            minimum: Generation(minimum),
            certified_from,
            armed,
            given,
        })
    }

    fn merged(one: &Admission, other: &Admission) -> Admission {
        let mut both = one.clone();
        both.merge(other);
        both
    }

    proptest! {
        #[test]
        fn merging_knows_no_order(a in any_admission(), b in any_admission(), c in any_admission()) {
            prop_assert_eq!(merged(&a, &b), merged(&b, &a));
            prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
            prop_assert_eq!(merged(&a, &a), a.clone());
            let both = merged(&a, &b);
            prop_assert!(both.minimum >= a.minimum && both.certified_from >= a.certified_from && both.armed >= a.armed);
        }
    }
}
