//! Names under which this program is another, very small one.
//!
//! The image of the DaemonSets holds nothing but this program, and needs three tools beside it: `cat` for probes, `chroot`
//! to run the node's own programs, and `probe`. They are links to it. Nothing of the real command line is set up for them:
//! a probe has a twentieth of a processor.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs, io,
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, ExitCode},
};

use prep::{Prep, Signs};

use crate::output::{note, print};

/// What a command that was not found ends with, and one that could not be started: as in every shell.
const NOT_FOUND: u8 = 127;
const NOT_STARTED: u8 = 126;

/// Acts as the program that this one was called as, if that is one of these.
pub fn run() -> Option<ExitCode> {
    let mut arguments = env::args_os();
    let name = arguments.next()?;
    let arguments: Vec<OsString> = arguments.collect();
    let applet = find(&name)?;
    Some(ExitCode::from(applet(&arguments)))
}

type Applet = fn(&[OsString]) -> u8;

fn find(called_as: &OsStr) -> Option<Applet> {
    match Path::new(called_as).file_name()?.to_str()? {
        "cat" => Some(cat),
        "chroot" => Some(chroot),
        "probe" => Some(|arguments| probe(&Signs::default(), arguments)),
        _ => None,
    }
}

/// Prints files; 1 if one cannot be read.
fn cat(files: &[OsString]) -> u8 {
    let mut code = 0;
    for file in files {
        match fs::read(file) {
            Ok(content) => code |= u8::from(print(&content).is_err()),
            Err(error) => {
                note(&format!("cat: {}: {error}\n", Path::new(file).display()));
                code = 1;
            }
        }
    }
    code
}

/// Becomes a program of another root.
fn chroot(arguments: &[OsString]) -> u8 {
    let [root, program, arguments @ ..] = arguments else {
        note("chroot: give a directory and a program\n");
        return NOT_STARTED;
    };
    let entered = nix::unistd::chroot(Path::new(root)).and_then(|()| nix::unistd::chdir("/"));
    if let Err(error) = entered {
        note(&format!("chroot: cannot enter {}: {error}\n", Path::new(root).display()));
        return NOT_STARTED;
    }
    // Returns only if it failed.
    let error = Command::new(program).args(arguments).exec();
    note(&format!("chroot: cannot run {}: {error}\n", Path::new(program).display()));
    if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_STARTED }
}

/// Says whether a pod is alive, or its node ready.
fn probe(signs: &Signs, arguments: &[OsString]) -> u8 {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let prep = |name: &str| Prep::ALL.into_iter().find(|prep| prep.name() == name);
    let answer = match words.as_slice() {
        ["live", name] => prep(name).map(|prep| signs.probe_live(prep)),
        ["ready", name] => prep(name).map(|prep| signs.probe_ready(prep)),
        _ => None,
    };
    match answer {
        Some(Ok(output)) => u8::from(print(format!("{output}\n").as_bytes()).is_err()),
        Some(Err(output)) => {
            note(&format!("{output}\n"));
            1
        }
        None => {
            note("probe: give `live` or `ready`, and `iscsi` or `gpu`\n");
            2
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn the_name_decides() {
        for name in ["cat", "/bin/cat", "./chroot", "/bin/probe"] {
            assert!(find(OsStr::new(name)).is_some(), "{name}");
        }
        for name in ["blackstart", "/blackstart", "/bin/cat/blackstart", "concat", "", "/"] {
            assert!(find(OsStr::new(name)).is_none(), "{name}");
        }
        assert!(playbooks::program_image::LINKS.iter().all(|name| find(OsStr::new(name)).is_some()));
    }

    #[test]
    fn cat_fails_if_one_of_the_files_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("healthy");
        fs::write(&file, "").unwrap();
        let file = file.to_str().unwrap();
        assert_eq!(cat(&words(&[file])), 0);
        assert_eq!(cat(&words(&[file, "/nowhere/ready"])), 1);
        assert_eq!(cat(&words(&["/nowhere/ready", file])), 1);
    }

    #[test]
    fn what_cannot_be_entered_is_not_started() {
        assert_eq!(chroot(&words(&["/host"])), NOT_STARTED);
        assert_eq!(chroot(&words(&["/nowhere", "true"])), NOT_STARTED);
    }

    #[test]
    fn probes_end_with_what_the_kubelet_understands() {
        let dir = tempfile::tempdir().unwrap();
        let signs = Signs::new(dir.path(), dir.path().join("host"));
        assert_eq!(probe(&signs, &words(&["live", "gpu"])), 1);
        fs::write(dir.path().join("healthy"), "").unwrap();
        assert_eq!(probe(&signs, &words(&["live", "gpu"])), 0);
        assert_eq!(probe(&signs, &words(&["ready", "gpu"])), 1);
        assert_eq!(probe(&signs, &words(&["ready", "disk"])), 2);
        assert_eq!(probe(&signs, &words(&["ready"])), 2);
    }
}
