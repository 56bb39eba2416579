//! An archive of a stranger, unpacked into a directory of its own and nowhere else.
//!
//! Nothing is skipped: one entry that could touch anything outside, a device, a name that is twice there, or more than a payload can
//! need, and the archive is refused as a whole. Links stay inside, and nothing is written through one. Owners and special bits are
//! dropped: all is root's, and no one else's.

use std::{
    collections::BTreeSet,
    io::{self, Read},
    path::{Component, Path, PathBuf},
};

use engine::StepError;
use flate2::read::MultiGzDecoder;
use host::{Disk, create_dir_all};
use tar::{Archive, Entry, EntryType};

use crate::codes;

/// The most entries.
const ENTRIES: usize = 10_000;
/// The most bytes of all files.
const BYTES: u64 = 512 << 20;
/// What headers may take beside them, of an archive that is packed.
const HEADERS: u64 = 32 << 20;

/// Unpacks a tar archive, packed with gzip or not, into a directory that must not be there.
pub(super) fn unpack(archive: &[u8], is_packed: bool, disk: &dyn Disk, to: &Path) -> Result<(), StepError> {
    create_dir_all(disk, to, 0o700)?;
    let plain: Box<dyn Read> = if is_packed { Box::new(MultiGzDecoder::new(archive)) } else { Box::new(archive) };
    let mut unpacking = Unpacking { disk, to, names: BTreeSet::new(), links: Vec::new(), bytes: 0 };
    let mut archive = Archive::new(plain.take(BYTES + HEADERS));
    for (index, entry) in archive.entries().map_err(|error| unreadable(&error))?.enumerate() {
        if index == ENTRIES {
            return Err(unsafe_(&format!("it has more than {ENTRIES} entries")));
        }
        unpacking.add(&mut entry.map_err(|error| unreadable(&error))?)?;
    }
    unpacking.refuse_links_through_links()
}

struct Unpacking<'a> {
    disk: &'a dyn Disk,
    to: &'a Path,
    /// All that is no directory.
    names: BTreeSet<PathBuf>,
    /// Links and what they lead to, both from the top of the archive.
    links: Vec<(PathBuf, PathBuf)>,
    bytes: u64,
}

impl Unpacking<'_> {
    fn add(&mut self, entry: &mut Entry<'_, impl Read>) -> Result<(), StepError> {
        let kind = entry.header().entry_type();
        if matches!(kind, EntryType::XGlobalHeader) {
            return Ok(());
        }
        let given = entry.path().map_err(|error| unreadable(&error))?.into_owned();
        let shown = explain::plain(&given.to_string_lossy()).into_owned();
        let refused = |why: &str| unsafe_(&format!("its entry `{shown}` {why}"));
        let name = inside(&given).ok_or_else(|| refused("is not inside the archive"))?;
        let at = self.to.join(&name);
        if name.ancestors().skip(1).any(|above| self.names.contains(above)) {
            return Err(refused("is below a file or a link"));
        }
        if kind.is_dir() {
            return if self.names.contains(&name) { Err(refused("is twice there")) } else { self.directory(&at) };
        }
        if name.as_os_str().is_empty() {
            return Err(refused("has no name"));
        }
        if !self.names.insert(name.clone()) || self.disk.exists(&at)? {
            return Err(refused("is twice there"));
        }
        if let Some(above) = at.parent() {
            self.directory(above)?;
        }
        let target = entry.link_name().map_err(|error| unreadable(&error))?.map(std::borrow::Cow::into_owned);
        match (kind, target) {
            (EntryType::Regular | EntryType::Continuous, _) => {
                self.bytes = self.bytes.saturating_add(entry.size());
                if self.bytes > BYTES {
                    return Err(unsafe_(&format!("it unpacks to more than {} MiB", BYTES >> 20)));
                }
                let mode = if entry.header().mode().is_ok_and(|mode| mode & 0o111 != 0) { 0o700 } else { 0o600 };
                let mut content = Vec::new();
                entry.read_to_end(&mut content).map_err(|error| unreadable(&error))?;
                if content.len() as u64 != entry.size() {
                    return Err(unreadable(&io::ErrorKind::UnexpectedEof.into()));
                }
                self.disk.create(&at, &content, mode)?;
                Ok(self.disk.sync_file(&at)?)
            }
            (EntryType::Symlink, Some(target)) => {
                let leads = led(&name, &target).ok_or_else(|| refused("is a link that leads out"))?;
                self.links.push((name, leads));
                Ok(self.disk.symlink(&at, &target)?)
            }
            (EntryType::Link, Some(target)) => {
                let source = inside(&target).filter(|source| {
                    let is_link = |(link, _): &(PathBuf, PathBuf)| source.starts_with(link);
                    self.names.contains(source) && *source != name && !self.links.iter().any(is_link)
                });
                let source = source.ok_or_else(|| refused("is a second name of no file of the archive"))?;
                Ok(self.disk.hard_link(&self.to.join(source), &at)?)
            }
            _ => Err(refused("is no file, directory or link")),
        }
    }

    fn directory(&self, at: &Path) -> Result<(), StepError> {
        Ok(create_dir_all(self.disk, at, 0o700)?)
    }

    /// Each link stays inside by its own text. Through another one it could still go further up than that says.
    fn refuse_links_through_links(&self) -> Result<(), StepError> {
        for (link, leads) in &self.links {
            let through = self.links.iter().any(|(other, _)| leads != other && leads.starts_with(other));
            if through {
                return Err(unsafe_(&format!(
                    "its entry `{}` is a link that leads through another one",
                    link.display()
                )));
            }
        }
        Ok(())
    }
}

/// The path from the top of the archive; none if it is not inside.
fn inside(path: &Path) -> Option<PathBuf> {
    let parts = path.components().filter(|part| !matches!(part, Component::CurDir));
    parts.map(|part| if let Component::Normal(part) = part { Some(part) } else { None }).collect()
}

/// Where a link leads, from the top of the archive; none if that is outside, or cannot be known without following it.
fn led(link: &Path, target: &Path) -> Option<PathBuf> {
    let mut leads = link.parent()?.to_path_buf();
    let mut is_going_down = false;
    for part in target.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if !is_going_down => leads = leads.parent()?.to_path_buf(),
            Component::Normal(part) => {
                is_going_down = true;
                leads.push(part);
            }
            _ => return None,
        }
    }
    Some(leads)
}

fn unsafe_(why: &str) -> StepError {
    StepError::new(codes::PAYLOAD_UNSAFE, format!("the archive of the payload is not unpacked: {why}"))
}

fn unreadable(error: &io::Error) -> StepError {
    let why = explain::plain(&explain::chain(error)).into_owned();
    StepError::new(codes::PAYLOAD_UNKNOWN, format!("the archive of the payload cannot be read to its end: {why}"))
}

#[cfg(test)]
pub(super) mod tests {
    use std::{fs, io::Write, os::unix::fs::PermissionsExt};

    use flate2::{Compression, write::GzEncoder};
    use tar::{Builder, Header};

    use super::{
        super::testing::{Machine, failed},
        *,
    };

    /// An archive of entries that no library would write: kind, name, what it leads to or holds.
    pub(in super::super) fn archive(entries: &[(EntryType, &str, &str)]) -> Vec<u8> {
        let mut archive = Builder::new(Vec::new());
        for (kind, name, content) in entries {
            let mut header = Header::new_ustar();
            header.set_entry_type(*kind);
            header.set_mode(if name.contains(".sh") { 0o4755 } else { 0o644 });
            let raw = header.as_old_mut();
            raw.name[..name.len()].copy_from_slice(name.as_bytes());
            let is_file = matches!(kind, EntryType::Regular);
            if !is_file {
                raw.linkname[..content.len()].copy_from_slice(content.as_bytes());
            }
            let content = if is_file { content.as_bytes() } else { b"" };
            header.set_size(content.len() as u64);
            header.set_cksum();
            archive.append(&header, content).unwrap();
        }
        archive.into_inner().unwrap()
    }

    pub(in super::super) fn packed(plain: &[u8]) -> Vec<u8> {
        let mut packing = GzEncoder::new(Vec::new(), Compression::fast());
        packing.write_all(plain).unwrap();
        packing.finish().unwrap()
    }

    const FILE: EntryType = EntryType::Regular;
    const DIR: EntryType = EntryType::Directory;
    const LINK: EntryType = EntryType::Symlink;
    const HARD: EntryType = EntryType::Link;

    #[test]
    fn what_is_harmless_is_unpacked() {
        let plain = archive(&[
            (DIR, "./", ""),
            (FILE, "./bootstrap.sh", "#!/bin/bash\n"),
            (FILE, "roles/common/tasks/main.yml", "- debug:\n"),
            (DIR, "roles/common", ""),
            (LINK, "roles/common/tasks/again.yml", "main.yml"),
            (LINK, "roles/base", "./common"),
            (LINK, "roles/common/top.sh", "../../bootstrap.sh"),
            (HARD, "second.sh", "bootstrap.sh"),
        ]);
        for (bytes, is_packed) in [(plain.clone(), false), (packed(&plain), true)] {
            let machine = Machine::default();
            unpack(&bytes, is_packed, &*machine.host().disk, Path::new("/work/files")).unwrap();
            let read = |name: &str| machine.read(&format!("/work/files/{name}")).unwrap();
            assert_eq!(read("roles/base/tasks/again.yml"), "- debug:\n");
            assert_eq!((read("roles/common/top.sh"), read("second.sh")), (read("bootstrap.sh"), read("bootstrap.sh")));
            let mode = |name: &str| fs::metadata(machine.path(name)).unwrap().permissions().mode() & 0o7777;
            assert_eq!((mode("/work/files/bootstrap.sh"), mode("/work/files")), (0o700, 0o700));
            assert_eq!(mode("/work/files/roles/common/tasks/main.yml"), 0o600);
        }
    }

    #[test]
    fn what_is_not_is_refused_and_touches_nothing() {
        let many = vec![(EntryType::XGlobalHeader, "pax", ""); ENTRIES + 1];
        let mut reported = String::new();
        for entries in [
            vec![(FILE, "../evil", "x")],
            vec![(FILE, "a/../../evil", "x")],
            vec![(FILE, "/etc/evil", "x")],
            vec![(LINK, "out", "/etc")],
            vec![(LINK, "out", "..")],
            vec![(LINK, "a/out", "../../etc")],
            vec![(LINK, "a/out", "b/../../..")],
            vec![(LINK, "a/b/top", "../.."), (LINK, "out", "a/b/top/evil")],
            vec![(LINK, "in", "a"), (FILE, "in/evil", "x")],
            vec![(LINK, "in", "a"), (FILE, "in", "x")],
            vec![(FILE, "a", "x"), (FILE, "./a", "y")],
            vec![(FILE, "a", "x"), (DIR, "a", "")],
            vec![(DIR, "a", ""), (FILE, "a", "x")],
            vec![(FILE, "a", "x"), (FILE, "a/b", "x")],
            vec![(HARD, "a", "/etc/shadow")],
            vec![(HARD, "a", "../../etc/shadow")],
            vec![(LINK, "l", "x"), (HARD, "a", "l")],
            vec![(EntryType::Char, "null", "")],
            vec![(EntryType::Fifo, "pipe", "")],
            vec![(EntryType::GNUSparse, "sparse", "")],
            vec![(FILE, "a\u{1b}[2J/../..", "x")],
            many,
        ] {
            let machine = Machine::default();
            let bytes = archive(&entries);
            let ended = unpack(&bytes, false, &*machine.host().disk, Path::new("/work/files"));
            let error = ended.map_or_else(|error| failed(&error), |()| "unpacked".to_owned());
            reported += &error.replace(&machine.path("/").display().to_string(), "/");
            reported += "\n";
            let beside = fs::read_dir(machine.path("/work")).unwrap().count();
            assert!(beside == 1 && !machine.path("/evil").exists(), "{entries:?}");
        }
        insta::assert_snapshot!(reported);
    }

    #[test]
    fn what_is_cut_off_or_grows_too_large_is_refused() {
        let plain = archive(&[(FILE, "bootstrap.sh", "#!/bin/bash\n")]);
        let mut huge = Header::new_ustar();
        huge.set_path("zeros").unwrap();
        huge.set_size(BYTES + 1);
        huge.set_cksum();
        let packed = packed(&plain);
        for (bytes, is_packed, expected) in [
            (huge.as_bytes().to_vec(), false, codes::PAYLOAD_UNSAFE),
            (plain[..520].to_vec(), false, codes::PAYLOAD_UNKNOWN),
            (packed[..packed.len() / 2].to_vec(), true, codes::PAYLOAD_UNKNOWN),
            (plain.clone(), true, codes::PAYLOAD_UNKNOWN),
        ] {
            let machine = Machine::default();
            let error = unpack(&bytes, is_packed, &*machine.host().disk, Path::new("/files")).unwrap_err();
            assert!(failed(&error).starts_with(expected.id), "{error}");
        }
    }
}
