//! What a rendered service consists of, and how a running process is distinguished from one with an older configuration.

use std::path::PathBuf;

/// The variable in a service's environment that holds [`Service::config_hash`]: `/proc/PID/environ` of a running
/// process says with which configuration it was started.
pub const CONFIG_VARIABLE: &str = "BLACKSTART_CONFIG";

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedFile {
    /// Where.
    pub path: PathBuf,
    /// Permission bits.
    pub mode: u32,
    /// What it holds.
    pub text: String,
}

impl RenderedFile {
    /// A file that everybody on the machine may read.
    pub(crate) fn public(path: impl Into<PathBuf>, text: String) -> Self {
        Self { path: path.into(), mode: 0o644, text }
    }

    /// A file for root alone.
    pub(crate) fn private(path: impl Into<PathBuf>, text: String) -> Self {
        Self { path: path.into(), mode: 0o600, text }
    }
}

/// A systemd service: its unit file and the files it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// The unit's name, `etcd.service`.
    pub name: &'static str,
    /// The unit file's text.
    pub unit: String,
    /// The files it reads, without the unit.
    pub files: Vec<RenderedFile>,
    /// The value of [`CONFIG_VARIABLE`]: changes with the unit and with every file.
    pub config_hash: String,
}

impl Service {
    /// The unit as a file.
    pub fn unit_file(&self) -> RenderedFile {
        RenderedFile::public(format!("/etc/systemd/system/{}", self.name), self.unit.clone())
    }
}

/// A short hash over a unit and its files, to notice changes; it protects nothing. Lengths go in as well, so that text
/// cannot move from one part to the next unnoticed.
pub(crate) fn config_hash(unit: &str, files: &[RenderedFile]) -> String {
    let mut hash = Fnv::new();
    hash.part(unit.as_bytes());
    for RenderedFile { path, mode, text } in files {
        hash.part(path.as_os_str().as_encoded_bytes());
        hash.part(&mode.to_be_bytes());
        hash.part(text.as_bytes());
    }
    format!("{:016x}", hash.0)
}

/// FNV-1a with 64 bits: the standard library's hasher may change between versions, and then everything would restart.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn part(&mut self, bytes: &[u8]) {
        self.bytes(&bytes.len().to_be_bytes());
        self.bytes(bytes);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        for (text, expected) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            let mut hash = Fnv::new();
            hash.bytes(text.as_bytes());
            assert_eq!(hash.0, expected, "{text}");
        }
    }

    #[test]
    fn every_part_counts() {
        let file = |path: &str, mode, text: &str| RenderedFile { path: path.into(), mode, text: text.into() };
        let hashes = [
            config_hash("unit", &[]),
            config_hash("other", &[]),
            config_hash("unit", &[file("/a", 0o644, "text")]),
            config_hash("unit", &[file("/b", 0o644, "text")]),
            config_hash("unit", &[file("/a", 0o600, "text")]),
            config_hash("unit", &[file("/a", 0o644, "texts")]),
            config_hash("unit", &[file("/a", 0o644, "tex"), file("t", 0o644, "")]),
        ];
        for (index, hash) in hashes.iter().enumerate() {
            assert!(!hashes[index + 1..].contains(hash), "number {index} is there twice");
        }
    }
}
