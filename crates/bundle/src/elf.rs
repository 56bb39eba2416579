//! Is a program one static file? Read from its ELF header.

use std::{fs, path::Path};

use crate::{BundleError, error::failed};

/// The kind of program header that names the loader of a dynamic program.
const PT_INTERP: u32 = 3;

/// Refuses a program that needs a loader, and what is no program at all.
pub fn ensure_static(path: &Path) -> Result<(), BundleError> {
    let content = fs::read(path).map_err(failed("read", path))?;
    let found = match linking(&content) {
        Some(Linking::Static) => return Ok(()),
        Some(Linking::Dynamic { loader }) => format!("is not static: it is loaded by {loader:?}"),
        None => "is not a 64-bit ELF program".to_owned(),
    };
    Err(BundleError::NotStatic { path: path.to_path_buf(), found })
}

/// How a program gets its libraries.
#[derive(Debug)]
enum Linking {
    Static,
    Dynamic { loader: String },
}

/// `None` where this is no little-endian 64-bit ELF file.
fn linking(elf: &[u8]) -> Option<Linking> {
    if !elf.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let headers = usize::try_from(u64::from_le_bytes(elf.get(32..40)?.try_into().ok()?)).ok()?;
    let size = usize::from(u16::from_le_bytes(elf.get(54..56)?.try_into().ok()?));
    let count = usize::from(u16::from_le_bytes(elf.get(56..58)?.try_into().ok()?));
    for index in 0..count {
        let start = headers.checked_add(index * size)?;
        let header = elf.get(start..start.checked_add(56)?)?;
        if u32::from_le_bytes(header[0..4].try_into().ok()?) == PT_INTERP {
            let offset = usize::try_from(u64::from_le_bytes(header[8..16].try_into().ok()?)).ok()?;
            let length = usize::try_from(u64::from_le_bytes(header[32..40].try_into().ok()?)).ok()?;
            let name = elf.get(offset..offset.checked_add(length)?)?;
            let loader = String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
            return Some(Linking::Dynamic { loader });
        }
    }
    Some(Linking::Static)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_compiler_makes_both_kinds() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("main.c");
        fs::write(&source, "int main(void) { return 0; }\n").unwrap();
        for (flag, says) in [("-static", None), ("-static-pie", None), ("-pie", Some("is not static: it is loaded by"))]
        {
            let program = dir.path().join("program");
            let built = Command::new("cc").arg(flag).arg("-o").arg(&program).arg(&source).status().unwrap();
            assert!(built.success());
            let refused = ensure_static(&program).err().map(|error| error.to_string());
            assert_eq!(refused.is_some(), says.is_some(), "{flag}: {refused:?}");
            assert!(refused.unwrap_or_default().contains(says.unwrap_or_default()), "{flag}");
        }
    }

    #[test]
    fn anything_else_is_refused_without_a_panic() {
        let whole = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(linking(&whole[..64]).is_none(), "program headers are cut off");
        for content in [b"".as_slice(), b"#!/bin/sh\n", b"\x7fELF\x01\x01", b"\x7fELF\x02\x01"] {
            assert!(linking(content).is_none(), "{content:?}");
        }
    }
}
