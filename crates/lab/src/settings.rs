//! Settings of the whole computer that labs change: noted before the first lab, put back after the last.
//!
//! Machines share the kernel. What their systems set in `/proc/sys` outside of a namespace is set here too. To add one:
//! a line in the table.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::{LabError, record};

/// Below `/proc/sys`.
const HOST_WIDE: &[&str] = &[
    "net/ipv4/ip_forward", // the lab's way out
    INOTIFY,
    "kernel/panic", // from here on: what a kubelet sets when it starts
    "kernel/panic_on_oops",
    "kernel/keys/root_maxbytes",
    "kernel/keys/root_maxkeys",
    "vm/overcommit_memory",
    "vm/panic_on_oom",
];

/// How many files-that-are-watched a user may have open at once: every systemd, kubelet, containerd and kube-proxy of every
/// machine has a few, all of them are of this computer's root, and the usual 128 are used up by the fifth machine.
const INOTIFY: &str = "fs/inotify/max_user_instances";
const ENOUGH: u64 = 8192;

/// Setting and value.
type Values = BTreeMap<String, String>;

fn note_path() -> PathBuf {
    Path::new(record::HOME).join("settings.json")
}

/// Notes the values, unless an earlier lab did.
pub(crate) fn note() -> Result<(), LabError> {
    let path = note_path();
    let known = noted(&path)?.unwrap_or_default();
    let mut values = known.clone();
    for name in HOST_WIDE {
        if let (false, Some(value)) = (known.contains_key(*name), read(Path::new("/proc/sys"), name)) {
            values.insert((*name).to_owned(), value);
        }
    }
    if values == known {
        return Ok(());
    }
    let text = serde_json::to_vec(&values).map_err(|source| LabError::Record { path: path.clone(), source })?;
    record::replace(&path, &text)
}

fn noted(path: &Path) -> Result<Option<Values>, LabError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(LabError::while_doing(format!("read {}", path.display()))(error)),
    };
    serde_json::from_slice(&text).map(Some).map_err(|source| LabError::Record { path: path.to_path_buf(), source })
}

/// Sees to it that the machines of several labs do not use up what they share.
pub(crate) fn make_room() -> Result<(), LabError> {
    let path = Path::new("/proc/sys").join(INOTIFY);
    let has_enough = |text: String| text.parse::<u64>().is_ok_and(|now| now >= ENOUGH);
    if read(Path::new("/proc/sys"), INOTIFY).is_none_or(has_enough) {
        return Ok(());
    }
    fs::write(&path, ENOUGH.to_string()).map_err(LabError::while_doing(format!("write {ENOUGH} to {}", path.display())))
}

/// Puts the noted values back and forgets them.
pub(crate) fn put_back() -> Result<(), LabError> {
    let path = note_path();
    let Some(values) = noted(&path)? else { return Ok(()) };
    write_changed(Path::new("/proc/sys"), &values)?;
    fs::remove_file(&path).map_err(LabError::while_doing(format!("remove {}", path.display())))
}

/// Writing a value that is there already is no small thing: `ip_forward` resets others when written.
fn write_changed(root: &Path, values: &Values) -> Result<(), LabError> {
    for (name, value) in values {
        if HOST_WIDE.contains(&name.as_str()) && read(root, name).is_some_and(|now| now != *value) {
            let path = root.join(name);
            fs::write(&path, value).map_err(LabError::while_doing(format!("write {value} to {}", path.display())))?;
        }
    }
    Ok(())
}

/// Not every kernel has every setting.
fn read(root: &Path, name: &str) -> Option<String> {
    fs::read_to_string(root.join(name)).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_written_and_nothing_that_is_not_in_the_table() {
        let root = tempfile::tempdir().unwrap();
        for (name, now) in [("kernel/panic", "10\n"), ("vm/overcommit_memory", "0\n"), ("kernel/hostname", "mine\n")] {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, now).unwrap();
        }
        let noted = [("kernel/panic", "0"), ("vm/overcommit_memory", "0"), ("kernel/hostname", "yours")];
        let noted: Values = noted.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        write_changed(root.path(), &noted).unwrap();
        let now = |name: &str| fs::read_to_string(root.path().join(name)).unwrap();
        assert_eq!(now("kernel/panic"), "0");
        assert_eq!(now("vm/overcommit_memory"), "0\n", "not touched");
        assert_eq!(now("kernel/hostname"), "mine\n");
    }
}
