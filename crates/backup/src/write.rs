//! Writing the inside of a backup: tar in age, with sums on the way.

use std::io::{self, Write};

use age::stream::StreamWriter;
use aws_lc_rs::digest::{Context, SHA256};
use jiff::Timestamp;

use crate::{FileEntry, Key, Manifest, manifest};

const MODE: u32 = 0o600;
const BLOCK: u64 = 512;
/// What ends an archive.
const END: [u8; 1024] = [0; 1024];

/// A backup that is being written.
pub(crate) struct Writer<W: Write> {
    out: StreamWriter<W>,
    made: u64,
    files: Vec<FileEntry>,
}

impl<W: Write> Writer<W> {
    /// For this key.
    pub(crate) fn new(out: W, key: &Key, made: Timestamp) -> io::Result<Self> {
        let out = key.encryptor().map_err(io::Error::other)?.wrap_output(out)?;
        Ok(Self { out, made: u64::try_from(made.as_second()).unwrap_or_default(), files: Vec::new() })
    }

    /// A small file.
    pub(crate) fn file(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut entry = self.entry(name, bytes.len() as u64)?;
        entry.write(bytes)?;
        entry.finish()
    }

    /// A file of exactly this size, which is written next.
    pub(crate) fn entry(&mut self, name: &str, size: u64) -> io::Result<Entry<'_, W>> {
        let mut header = tar::Header::new_ustar();
        header.set_path(name)?;
        header.set_size(size);
        header.set_mode(MODE);
        header.set_mtime(self.made);
        header.set_cksum();
        self.out.write_all(header.as_bytes())?;
        Ok(Entry { writer: self, name: name.to_owned(), size, written: 0, sum: Context::new(&SHA256) })
    }

    /// The manifest, with the sums of everything before it, and the end.
    pub(crate) fn finish(mut self, manifest: impl FnOnce(Vec<FileEntry>) -> Manifest) -> io::Result<(W, Manifest)> {
        let manifest = manifest(std::mem::take(&mut self.files));
        self.file(manifest::NAME, &serde_json::to_vec_pretty(&manifest)?)?;
        self.out.write_all(&END)?;
        Ok((self.out.finish()?, manifest))
    }
}

/// A file in a backup that is being written.
pub(crate) struct Entry<'a, W: Write> {
    writer: &'a mut Writer<W>,
    name: String,
    size: u64,
    written: u64,
    sum: Context,
}

impl<W: Write> Entry<'_, W> {
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        self.sum.update(bytes);
        self.writer.out.write_all(bytes)
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        let Self { writer, name, size, written, sum } = self;
        if written != size {
            return Err(io::Error::other(format!("{name} has {written} bytes instead of {size}")));
        }
        let padding = (BLOCK - written % BLOCK) % BLOCK;
        io::copy(&mut io::Read::take(io::repeat(0), padding), &mut writer.out)?;
        writer.files.push(FileEntry { name, size, sha256: hex(sum) });
        Ok(())
    }
}

pub(crate) fn hex(sum: Context) -> String {
    sum.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
