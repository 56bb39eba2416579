//! SHA-256 sums, taken while data flows by.

use std::{
    fmt, fs,
    io::{self, Read, Write},
    path::Path,
};

use aws_lc_rs::digest::{Context, SHA256, digest};
use serde::{Deserialize, Serialize};

use crate::{BundleError, error::failed};

/// A SHA-256 sum, as 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Sum(String);

impl Sum {
    /// Of data in memory.
    pub fn of(data: &[u8]) -> Self {
        Self::from_digest(digest(&SHA256, data).as_ref())
    }

    /// Of a file, with its size.
    pub(crate) fn of_file(path: &Path) -> Result<(Self, u64), BundleError> {
        let mut file = fs::File::open(path).map_err(failed("read", path))?;
        let mut summing = Summing::new(io::sink());
        io::copy(&mut file, &mut summing).map_err(failed("read", path))?;
        let (_, sum, size) = summing.finish();
        Ok((sum, size))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn from_digest(digest: &[u8]) -> Self {
        let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        Self(digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect())
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that is no sum.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a SHA-256 sum of 64 hexadecimal digits")]
pub struct NotASum(String);

impl TryFrom<String> for Sum {
    type Error = NotASum;

    fn try_from(text: String) -> Result<Self, NotASum> {
        if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(NotASum(text))
        }
    }
}

/// Passes data on and sums it; works for writing and for reading.
pub(crate) struct Summing<T> {
    inner: T,
    context: Context,
    size: u64,
}

impl<T> Summing<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self { inner, context: Context::new(&SHA256), size: 0 }
    }

    /// What is behind it, the sum of what went through, and how much that was.
    pub(crate) fn finish(self) -> (T, Sum, u64) {
        (self.inner, Sum::from_digest(self.context.finish().as_ref()), self.size)
    }

    fn saw(&mut self, data: &[u8]) {
        self.context.update(data);
        self.size += data.len() as u64;
    }
}

impl<W: Write> Write for Summing<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(data)?;
        self.saw(&data[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read> Read for Summing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.saw(&buffer[..read]);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn memory_and_stream_agree() {
        assert_eq!(Sum::of(b"abc").as_str(), OF_ABC);
        let mut summing = Summing::new(Vec::new());
        summing.write_all(b"a").unwrap();
        summing.write_all(b"bc").unwrap();
        let (data, sum, size) = summing.finish();
        assert_eq!((data.as_slice(), sum.as_str(), size), (b"abc".as_slice(), OF_ABC, 3));
    }

    #[test]
    fn only_sums_are_sums() {
        assert_eq!(Sum::try_from(OF_ABC.to_uppercase()).unwrap().as_str(), OF_ABC);
        for text in ["", "abc", &OF_ABC[1..], &OF_ABC.replace('b', "x"), "../../../../etc/passwd"] {
            assert!(Sum::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
