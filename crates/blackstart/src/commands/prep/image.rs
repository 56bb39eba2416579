//! `blackstart prep image`: the image that the `DaemonSets` run.

use std::path::Path;

use ::bundle::{BundleError, Image, component::Arch, ensure_static};
use ::prep::names;
use serde_json::json;

use crate::{
    Failure,
    applet::LINKS,
    codes,
    context::{Context, Ended},
};

pub(super) fn run(context: &Context, to: &Path) -> Result<(), Ended> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(codes::NO_RUNTIME, format!("cannot find this program: {error}")))?;
    let name = name();
    write(&name, &program, to)?;
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "image": name, "archive": to }))?);
    }
    Ok(context.out.text(&format!("{name} is in {}\n", to.display()))?)
}

/// The name with its tag, as the manifests have it.
fn name() -> String {
    format!("{}:{}", names::IMAGE, env!("CARGO_PKG_VERSION"))
}

fn write(name: &str, program: &Path, to: &Path) -> Result<(), BundleError> {
    // Nothing else is in the image, so nothing would load its libraries.
    ensure_static(program)?;
    let paths = LINKS.map(|applet| format!("bin/{applet}"));
    let links: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "../blackstart")).collect();
    let image = Image { name, program: "blackstart", user: None, arch: Arch::AMD64, links: &links };
    // The layer is as large as the archive, so it is made where that one fits.
    let scratch = to.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    image.write(program, to, scratch)
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
        write(&name(), &program, &to).unwrap();
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
        let refused = write(&name(), &script, &dir.path().join("image.tar")).unwrap_err();
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
