//! Settings of the kernel that services change by themselves, as they were before.

use std::path::{Path, PathBuf};

use engine::StepError;
use host::{Capabilities, Cmd, Disk, Host, HostError};

/// What a setting in the ledger begins with.
const KEY: &str = "the setting ";

/// Notes how these settings are, in the form in which the ledger keeps them. In a container they are those of the
/// computer it runs on, and not the machine's to put back.
pub fn remember(disk: &dyn Disk, names: &[&str]) -> Result<Vec<String>, HostError> {
    if names.is_empty() || !Capabilities::read(disk)?.has_own_disk {
        return Ok(Vec::new());
    }
    let mut keys = Vec::new();
    for name in names {
        if let Some(value) = read(disk, name)? {
            keys.push(format!("{KEY}{name}={value}"));
        }
    }
    Ok(keys)
}

/// The key for a setting that we change ourselves.
pub fn key(name: &str, old: &str) -> String {
    format!("{KEY}{name}={old}")
}

/// Whether a key of the ledger is of a setting.
pub fn is_key(key: &str) -> bool {
    key.starts_with(KEY)
}

/// Whether a key is of this setting.
pub fn is_of(key: &str, name: &str) -> bool {
    key.strip_prefix(KEY).and_then(|setting| setting.split_once('=')).is_some_and(|(of, _)| of == name)
}

/// Makes a setting what it was. One that is not there any more went with what it belonged to.
pub async fn restore(host: &Host, key: &str) -> Result<(), StepError> {
    let Some((name, old)) = key.strip_prefix(KEY).and_then(|setting| setting.split_once('=')) else { return Ok(()) };
    if !host.is_live || read(&*host.disk, name)?.is_none_or(|now| now == old) {
        return Ok(());
    }
    set(host, name, old).await
}

/// Makes a setting what it should be, until the next boot.
pub async fn set(host: &Host, name: &str, value: &str) -> Result<(), StepError> {
    super::run(host, Cmd::new("sysctl").args(["--quiet", "--write", &format!("{name}={value}")])).await.map(drop)
}

/// How a setting is; `None` where the kernel has none of this name.
pub fn read(disk: &dyn Disk, name: &str) -> Result<Option<String>, HostError> {
    let found = disk.read_optional(&path(name))?;
    Ok(found.map(|found| String::from_utf8_lossy(&found).trim().to_owned()))
}

fn path(name: &str) -> PathBuf {
    Path::new("/proc/sys").join(name.replace('.', "/"))
}

#[cfg(test)]
mod tests {
    use host::{Change, Content, disk::model::ModelDisk};

    use super::*;

    fn write(disk: &ModelDisk, path: &str, text: &str) {
        let content = Content::Plain(text.into());
        Change::File { path: path.into(), mode: 0o644, content }.apply(disk).unwrap();
    }

    #[test]
    fn what_there_is_is_remembered_but_not_in_a_container() {
        let disk = ModelDisk::default();
        write(&disk, "/proc/sys/kernel/panic", "0\n");
        let names = ["kernel.panic", "kernel.of_another_version"];
        assert_eq!(remember(&disk, &names).unwrap(), ["the setting kernel.panic=0"]);
        write(&disk, "/run/systemd/container", "systemd-nspawn");
        assert!(remember(&disk, &names).unwrap().is_empty());
    }
}
