//! Asks a program for its version: the last check before it is taken.

use std::{path::Path, time::Duration};

use crate::{
    BundleError, Stop,
    command::{Output, Run},
    component::Program,
};

const DEADLINE: Duration = Duration::from_secs(30);

/// Refuses a program that says another version than it should be.
pub(crate) fn ensure_version(
    path: &Path,
    program: &Program,
    version: &str,
    scratch: &Path,
    stop: &Stop,
) -> Result<(), BundleError> {
    // The exit status does not matter: some say their version and then complain that there is no command.
    let (Output { stdout, stderr }, _) = Run::new(path).args(program.ask).within(DEADLINE).finish(scratch, stop)?;
    let output = format!("{}\n{stderr}", String::from_utf8_lossy(&stdout));
    if mentions(&output, version) {
        return Ok(());
    }
    let output = output.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let output = output.chars().take(100).collect();
    Err(BundleError::Version { path: path.to_path_buf(), wanted: version.to_owned(), output })
}

/// True where the text has this version, and not only a longer one that contains it.
fn mentions(text: &str, version: &str) -> bool {
    text.match_indices(version).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let mut after = text[start + version.len()..].chars();
        let goes_on = match after.next() {
            Some('.') => after.next().is_some_and(|next| next.is_ascii_digit()),
            Some(next) => next.is_ascii_digit() || next == '-',
            None => false,
        };
        !goes_on && !before.is_some_and(|before| before.is_ascii_digit() || before == '.')
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use explain::Explain;

    use super::*;
    use crate::{codes, component::program};

    #[test]
    fn a_version_is_recognised_whole() {
        for (text, expected) in [
            ("Kubernetes v1.5.2", true),
            ("runc version 1.5.2\nspec: 1.3.0", true),
            ("etcd Version: 1.5.2.", true),
            ("ctr github.com/containerd/containerd/v2 v1.5.2 \n", true),
            ("version 1.5.2+unknown", true),
            ("v1.5.20", false),
            ("v11.5.2", false),
            ("v1.5.2.1", false),
            ("v1.5.2-rc.1", false),
            ("0.1.5.2", false),
            ("", false),
        ] {
            assert_eq!(mentions(text, "1.5.2"), expected, "{text}");
        }
    }

    #[test]
    fn another_version_is_refused_with_what_it_printed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("runc");
        fs::write(&path, "#!/bin/sh\necho runc version 1.1.5 >&2; exit 1\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let asked = program("runc", "", &["--version"]);
        let stop = Stop::default();
        ensure_version(&path, &asked, "1.1.5", dir.path(), &stop).unwrap();
        let error = ensure_version(&path, &asked, "1.5.2", dir.path(), &stop).unwrap_err();
        assert_eq!(error.code(), codes::VERSION);
        assert!(error.to_string().contains("runc version 1.1.5"), "{error}");
    }
}
