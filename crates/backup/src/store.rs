//! Where automatic backups are: one directory, and names that say of what and of when.

use std::{
    collections::BTreeSet,
    fs, io,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

use host::Disk;
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use join::{JoinKey, seal::layout};
use serde::Serialize;

use crate::{
    BackupError, Key,
    contents::{BACKUP_KEY, GIVEN_JOIN_KEY},
    fresh_file::is_leftover,
    rotation,
};

/// The directory of automatic backups.
pub const DIR: &str = "/var/backups/blackstart";

const MODE: u32 = 0o700;
const ENDING: &str = ".age";
const TIME: &str = "%Y%m%dT%H%M%SZ";

/// A backup in a directory, by what its name says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// The file.
    pub path: PathBuf,
    /// When it was made.
    pub made: Timestamp,
    /// Its size in bytes.
    pub size: u64,
}

/// The name of a backup: `home-master-01-20261116T034101Z.age`.
pub fn file_name(cluster: &str, node: &str, made: Timestamp) -> String {
    format!("{cluster}-{node}-{}{ENDING}", made.strftime(TIME))
}

/// The key that automatic backups on this machine are made for: the operator's if there is one, else the cluster's, which
/// the first master has in its sealed directory and every other one was given.
pub fn key(disk: &dyn Disk, config_dir: &Path, kubernetes_dir: &Path) -> Result<Key, BackupError> {
    let [own, sealed] = [BACKUP_KEY, layout::JOIN_KEY].map(|name| config_dir.join(name));
    let text = |path: &Path| {
        Ok::<_, BackupError>(disk.read_optional(path)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    if let Some(text) = text(&own)? {
        return Key::parse(&text);
    }
    let given = text(&kubernetes_dir.join(GIVEN_JOIN_KEY))?;
    match given.map_or_else(|| text(&sealed), |given| Ok(Some(given)))? {
        Some(text) => Key::of_cluster(&JoinKey::parse(&text).map_err(|_| BackupError::BadKey)?),
        None => Err(BackupError::NoKey(own, sealed)),
    }
}

/// The backups in a directory, the newest first; none if there is no directory.
pub fn list(dir: &Path) -> Result<Vec<Kept>, BackupError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(BackupError::reading(dir)(error)),
    };
    let mut kept = Vec::new();
    for entry in entries {
        let entry = entry.map_err(BackupError::reading(dir))?;
        let Some(made) = made(&entry.file_name().to_string_lossy()) else { continue };
        let size = entry.metadata().map_err(BackupError::reading(entry.path()))?.len();
        kept.push(Kept { path: entry.path(), made, size });
    }
    kept.sort_by(|one, next| (next.made, &next.path).cmp(&(one.made, &one.path)));
    Ok(kept)
}

/// The moment that a name says.
fn made(name: &str) -> Option<Timestamp> {
    let (_, time) = name.strip_suffix(ENDING)?.rsplit_once('-')?;
    let time = DateTime::strptime(TIME, time).ok()?;
    time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

/// Makes the directory ready: there, for its owner only, without what a crash left.
pub fn prepare(dir: &Path) -> Result<(), BackupError> {
    let ready = || {
        fs::DirBuilder::new().recursive(true).mode(MODE).create(dir)?;
        fs::set_permissions(dir, fs::Permissions::from_mode(MODE))?;
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            if is_leftover(&entry.file_name().to_string_lossy()) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    };
    ready().map_err(BackupError::writing(dir))
}

/// Removes what is not to be kept any longer, and says what that was.
pub fn rotate(dir: &Path, now: Timestamp) -> Result<Vec<PathBuf>, BackupError> {
    let kept = list(dir)?;
    let gone = rotation::surplus(&kept.iter().map(|one| one.made).collect::<BTreeSet<_>>(), now);
    let mut removed = Vec::new();
    for one in kept.into_iter().filter(|one| gone.contains(&one.made)) {
        fs::remove_file(&one.path).map_err(BackupError::writing(&one.path))?;
        removed.push(one.path);
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use explain::Explain;
    use host::disk::model::ModelDisk;
    use secrecy::ExposeSecret;

    use super::*;
    use crate::{codes, contents::tests::write};

    #[test]
    fn names_say_when() {
        let time: Timestamp = "2026-11-16T03:41:01Z".parse().unwrap();
        let name = file_name("home", "master-01", time);
        assert_eq!(name, "home-master-01-20261116T034101Z.age");
        assert_eq!(made(&name), Some(time));
        for other in [
            "x.age",
            "home-20261316T034101Z.age",
            "home-20261116T034101Z.tar",
            ".home-20261116T034101Z.age.blackstart-new",
        ] {
            assert_eq!(made(other), None, "{other}");
        }
    }

    #[test]
    fn only_backups_are_listed_and_rotated() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("backups");
        assert_eq!(list(&dir).unwrap(), []);
        prepare(&dir).unwrap();
        assert_eq!(dir.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(dir.join("notes.txt"), "mine").unwrap();
        fs::write(dir.join(".home-m-20261116T034101Z.age.blackstart-new"), "half").unwrap();
        for day in 1..=9 {
            let time: Timestamp = format!("2026-01-0{day}T00:00:00Z").parse().unwrap();
            fs::write(dir.join(file_name("home", "m", time)), "x").unwrap();
        }
        prepare(&dir).unwrap();
        let removed = rotate(&dir, "2026-06-01T00:00:00Z".parse().unwrap()).unwrap();
        assert_eq!(removed, [dir.join("home-m-20260101T000000Z.age")]);
        let left = list(&dir).unwrap();
        assert_eq!((left.len(), left[0].path.clone()), (8, dir.join("home-m-20260109T000000Z.age")));
        assert!(dir.join("notes.txt").exists() && !dir.join(".home-m-20261116T034101Z.age.blackstart-new").exists());
    }

    #[test]
    fn the_operators_key_comes_first() {
        let disk = ModelDisk::default();
        let found = || match key(&disk, Path::new("/c"), Path::new("/k")) {
            Ok(Key::Identity(identity)) => identity.to_public().to_string(),
            Ok(Key::Passphrase(_)) => "a passphrase".into(),
            Err(error) => error.code().id.to_owned(),
        };
        assert_eq!(found(), codes::NO_KEY.id);
        write(&disk, "/c/join.key", &"A".repeat(43));
        let of_cluster = found();
        assert!(of_cluster.starts_with("age1"), "{of_cluster}");
        host::remove_file(&disk, Path::new("/c/join.key")).unwrap();
        write(&disk, "/k/pki/join.key", &"A".repeat(43));
        assert_eq!(found(), of_cluster, "it does not matter which master made the backup");
        let own = Key::generate();
        write(&disk, "/c/backup.key", own.expose_secret());
        assert!(own.expose_secret().contains(&found()));
        write(&disk, "/c/backup.key", "nonsense");
        assert_eq!(found(), codes::BAD_KEY.id, "a broken key is not passed over in silence");
    }
}
