//! Which keys a rotation replaces: what was asked for, as far as the cluster has it. Pure.

use agent::rotation::{Subject, Subjects};

use crate::{Failure, codes};

/// What this cluster has of what not every cluster has.
#[derive(Debug, Clone, Copy)]
pub(super) struct There {
    /// `encryption.yaml` is of our making.
    pub(super) encryption: bool,
    /// There is a join key: the cluster was sealed.
    pub(super) join: bool,
    /// There is a `backup.key`: otherwise that key follows from the join key.
    pub(super) backup: bool,
}

/// What is replaced, and what is reported about what is not.
pub(super) fn choose(asked: &[Subject], all: bool, there: There) -> Result<(Subjects, Vec<&'static str>), Failure> {
    let mut chosen: Subjects = if all { Subjects::from(Subject::ALL) } else { asked.iter().copied().collect() };
    let mut notes = Vec::new();
    if chosen.contains(&Subject::Encryption) && !there.encryption {
        let message = "encryption.yaml was not written by this program, so the key in it cannot be replaced";
        return Err(Failure::usage(codes::NOTHING_TO_ROTATE, message).with_hint(agent::codes::FOREIGN_KEY.fix));
    }
    if chosen.contains(&Subject::Join) && !there.join {
        if !all {
            let message = "there is no join key: this cluster was not sealed";
            return Err(Failure::usage(codes::NOTHING_TO_ROTATE, message));
        }
        chosen.remove(&Subject::Join);
        notes.push("`join` is left out: this cluster was not sealed and has no join key\n");
    }
    if chosen.contains(&Subject::Backup) && !there.backup {
        if !chosen.contains(&Subject::Join) && !all {
            let message = "there is no backup.key: the key of backups follows from the join key";
            let hint = "rotate the join key: `blackstart pki rotate join`";
            return Err(Failure::usage(codes::NOTHING_TO_ROTATE, message).with_hint(hint));
        }
        chosen.remove(&Subject::Backup);
    }
    Ok((chosen, notes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_chosen_if_it_is_there() {
        use Subject::{Backup, Ca, Encryption, Join, ServiceAccount};
        let whole = There { encryption: true, join: true, backup: true };
        let no_backup = There { backup: false, ..whole };
        let unsealed = There { join: false, backup: false, ..whole };
        let foreign = There { encryption: false, ..whole };
        for (asked, all, there, expected) in [
            (vec![Ca], false, whole, Some("ca")),
            (vec![Join, Ca, Ca], false, whole, Some("ca join")),
            (vec![], true, whole, Some("ca service-account encryption join backup")),
            (vec![], true, no_backup, Some("ca service-account encryption join")),
            (vec![], true, unsealed, Some("ca service-account encryption")),
            (vec![], true, foreign, None),
            (vec![Encryption], false, foreign, None),
            (vec![ServiceAccount], false, foreign, Some("service-account")),
            (vec![Join], false, unsealed, None),
            (vec![Backup], false, whole, Some("backup")),
            (vec![Backup], false, no_backup, None),
            (vec![Backup, Join], false, no_backup, Some("join")),
        ] {
            let chosen = choose(&asked, all, there);
            if let Err(failure) = &chosen {
                assert_eq!(failure.diagnostic.code, codes::NOTHING_TO_ROTATE);
            }
            let list = chosen.ok().map(|(chosen, _)| Subject::list(&chosen));
            assert_eq!(list.as_deref(), expected, "{asked:?} {all} {there:?}");
        }
    }
}
