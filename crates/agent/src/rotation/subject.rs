//! What a rotation replaces. A rotation has one or several of these, and takes them through its stages together.

use std::{collections::BTreeSet, fmt};

/// One kind of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The three CAs, and with them every certificate.
    Ca,
    /// The key that signs service account tokens.
    ServiceAccount,
    /// The key that encrypts Secrets in etcd.
    Encryption,
    /// `join.key`, and with it every node's secret.
    Join,
    /// `backup.key`, for which backups are made.
    Backup,
}

/// Those of one rotation.
pub type Subjects = BTreeSet<Subject>;

impl Subject {
    /// In the order in which they are listed.
    pub const ALL: [Self; 5] = [Self::Ca, Self::ServiceAccount, Self::Encryption, Self::Join, Self::Backup];

    /// As people and files name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ca => "ca",
            Self::ServiceAccount => "service-account",
            Self::Encryption => "encryption",
            Self::Join => "join",
            Self::Backup => "backup",
        }
    }

    /// All of them in one text, as it is typed: `ca service-account`.
    pub fn list(subjects: &Subjects) -> String {
        subjects.iter().map(|subject| subject.name()).collect::<Vec<_>>().join(" ")
    }

    /// The reverse of [`list`](Self::list); `None` if a word is unknown or there is none.
    pub(super) fn read(text: &str) -> Option<Subjects> {
        let one = |word: &str| Self::ALL.into_iter().find(|subject| subject.name() == word);
        text.split_whitespace().map(one).collect::<Option<Subjects>>().filter(|subjects| !subjects.is_empty())
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_is_read_back() {
        let all = Subjects::from(Subject::ALL);
        assert_eq!(Subject::list(&all), "ca service-account encryption join backup");
        assert_eq!(Subject::read(&Subject::list(&all)), Some(all));
        for (text, expected) in [("", None), ("ca what", None), ("join ca", Some([Subject::Ca, Subject::Join]))] {
            assert_eq!(Subject::read(text), expected.map(Subjects::from), "{text}");
        }
    }
}
