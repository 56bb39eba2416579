//! The image of this very program, which the pods that prepare nodes run: the program, its other names, nothing else.

use std::path::Path;

use ::prep::names;
use bundle::{BundleError, Image, component::Arch, ensure_static};

/// Names under which the program is another one; in the image they are links to it.
pub const LINKS: [&str; 3] = ["cat", "chroot", "probe"];

/// The image's name with its tag, as the manifests have it.
pub fn name() -> String {
    format!("{}:{}", names::IMAGE, env!("CARGO_PKG_VERSION"))
}

/// Writes the archive of the image.
pub fn write(program: &Path, to: &Path) -> Result<(), BundleError> {
    // Nothing else is in the image, so nothing would load its libraries.
    ensure_static(program)?;
    let paths = LINKS.map(|applet| format!("bin/{applet}"));
    let links: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "../blackstart")).collect();
    let name = name();
    let image = Image { name: &name, program: "blackstart", user: None, arch: Arch::AMD64, links: &links };
    image.write(program, to)
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Read};

    use super::*;

    #[test]
    fn the_image_holds_the_program_and_its_other_names() {
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("image.tar");
        let program = std::env::current_exe().unwrap();
        write(&program, &to).unwrap();
        let mut found = Vec::new();
        for entry in tar_entries(&fs::read(&to).unwrap()) {
            let is_layer = entry.0.starts_with("blobs/") && entry.1.len() > 100_000;
            if is_layer {
                found = tar_entries(&entry.1).into_iter().map(|(path, _)| path).collect();
            }
        }
        assert_eq!(found, ["blackstart", "bin/", "bin/cat", "bin/chroot", "bin/probe"]);
        assert_eq!(dir.path().read_dir().unwrap().count(), 1, "nothing is left but the archive");
    }

    #[test]
    fn what_is_no_static_program_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("script");
        fs::write(&script, "#!/bin/sh\n").unwrap();
        let refused = write(&script, &dir.path().join("image.tar")).unwrap_err();
        assert!(refused.to_string().contains("is not a 64-bit ELF program"), "{refused}");
    }

    /// Paths and contents, as plain `tar` has them: 512 bytes of header, then the content, padded to 512 bytes.
    fn tar_entries(mut archive: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut entries = Vec::new();
        let mut header = [0; 512];
        while archive.read_exact(&mut header).is_ok() && header[0] != 0 {
            let text = |field: &[u8]| String::from_utf8_lossy(field).trim_end_matches(['\0', ' ']).to_owned();
            let size = usize::from_str_radix(&text(&header[124..136]), 8).unwrap();
            entries.push((text(&header[..100]), archive[..size].to_vec()));
            archive = &archive[size.div_ceil(512) * 512..];
        }
        entries
    }
}
