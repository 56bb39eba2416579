//! Entries of a tar archive that say nothing about when, where and by whom it was made.

use std::{
    fs,
    io::{self, Read, Write},
    path::Path,
};

/// Appends data as a plain file.
pub(crate) fn append<W: Write>(to: &mut tar::Builder<W>, path: &str, mode: u32, data: &[u8]) -> io::Result<()> {
    append_stream(to, path, mode, data.len() as u64, data)
}

/// Appends a file as it is now.
pub(crate) fn append_file<W: Write>(to: &mut tar::Builder<W>, path: &str, mode: u32, from: &Path) -> io::Result<()> {
    let file = fs::File::open(from)?;
    let size = file.metadata()?.len();
    append_stream(to, path, mode, size, file)
}

/// Appends the beginning of a plain file; as many bytes as it says have to follow, padded to 512.
pub(crate) fn append_header<W: Write>(to: &mut tar::Builder<W>, path: &str, mode: u32, size: u64) -> io::Result<()> {
    let mut header = header(tar::EntryType::Regular, size, mode);
    header.set_path(path)?;
    header.set_cksum();
    to.append(&header, io::empty())
}

/// Appends a directory.
pub(crate) fn append_dir<W: Write>(to: &mut tar::Builder<W>, path: &Path, mode: u32) -> io::Result<()> {
    let mut header = header(tar::EntryType::Directory, 0, mode);
    to.append_data(&mut header, path.join(""), io::empty())
}

/// Appends a symbolic link.
pub(crate) fn append_link<W: Write>(to: &mut tar::Builder<W>, path: &str, target: &str) -> io::Result<()> {
    let mut header = header(tar::EntryType::Symlink, 0, 0o777);
    to.append_link(&mut header, path, target)
}

fn header(kind: tar::EntryType, size: u64, mode: u32) -> tar::Header {
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(mode);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// Appends exactly `size` bytes; a stream that has fewer is an error, and the archive is then worthless.
fn append_stream<W: Write>(
    to: &mut tar::Builder<W>,
    path: &str,
    mode: u32,
    size: u64,
    data: impl Read,
) -> io::Result<()> {
    let mut header = header(tar::EntryType::Regular, size, mode);
    let mut counted = Counted { inner: data.take(size), seen: 0 };
    to.append_data(&mut header, path, &mut counted)?;
    if counted.seen == size { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

struct Counted<R> {
    inner: R,
    seen: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.seen += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_ends_early_is_an_error() {
        let mut archive = tar::Builder::new(Vec::new());
        assert!(append_stream(&mut archive, "short", 0o644, 10, b"abc".as_slice()).is_err());
        assert!(append_stream(&mut archive, "right", 0o644, 3, b"abc".as_slice()).is_ok());
    }
}
