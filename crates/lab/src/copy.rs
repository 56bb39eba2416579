//! Copies files into and out of machines, through tar so that links and modes survive.

use std::{
    path::Path,
    process::{Command, ExitStatus, Stdio},
};

use crate::{Capabilities, Lab, LabError, Machine, power::inside};

/// Copies `from` into the directory `to`, or to the new name `to` in a directory, as `cp` does; one of them is `MACHINE:PATH`.
pub fn copy(lab: &Lab, capabilities: &Capabilities, from: &str, to: &str) -> Result<(), LabError> {
    let (source, target) = (Endpoint::parse(from), Endpoint::parse(to));
    let at = |endpoint: &Endpoint<'_>, program: &str| endpoint.command(program, lab, capabilities);
    transfer(&source, &target, &at).map_err(|why| match why {
        Failure::Lab(error) => error,
        Failure::Refused(why) => {
            LabError::System { doing: format!("copy {from} to {to}"), source: std::io::Error::other(why) }
        }
    })
}

/// Why there is no copy.
#[derive(Debug)]
enum Failure {
    /// Nothing could be tried.
    Lab(LabError),
    /// It was tried.
    Refused(String),
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        Self::Lab(error)
    }
}

/// Where the copy goes.
#[derive(Debug, PartialEq, Eq)]
struct Landing<'a> {
    /// The directory that is written to.
    dir: &'a Path,
    /// The name that the copy gets; `None` for that of the original.
    name: Option<&'a Path>,
}

impl<'a> Landing<'a> {
    fn of(to: &'a str, is_dir: bool) -> Self {
        let path = Path::new(to);
        match path.parent() {
            // What ends in a slash is meant to be a directory.
            Some(parent) if !is_dir && !to.ends_with('/') => {
                let dir = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
                Self { dir, name: Some(path) }
            }
            _ => Self { dir: path, name: None },
        }
    }
}

/// Copies, with commands where each endpoint is.
fn transfer(
    source: &Endpoint<'_>,
    target: &Endpoint<'_>,
    at: &impl Fn(&Endpoint<'_>, &str) -> Result<Command, LabError>,
) -> Result<(), Failure> {
    let path = Path::new(source.path());
    let name = path.file_name().ok_or_else(|| missing_name(source.path()))?;
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_dir = |path: &Path| Ok::<_, LabError>(run(at(target, "test")?.arg("-d").arg(path))?.success());
    let landing = Landing::of(target.path(), is_dir(Path::new(target.path()))?);
    if !is_dir(landing.dir)? {
        return Err(Failure::Refused(format!("there is no directory {}", landing.dir.display())));
    }
    let mut pack = at(source, "tar")?;
    pack.arg("-C").arg(dir).args(["-cf", "-"]).arg(name);
    let Some(new_name) = landing.name else {
        return seen_to(stream(pack, at(target, "tar")?, landing.dir)?);
    };
    // Beside its place, so that a reader sees all of it or nothing.
    let beside = landing.dir.join(format!(".blackstart-cp-{}", std::process::id()));
    let done = run(at(target, "mkdir")?.arg(&beside))?.success()
        && stream(pack, at(target, "tar")?, &beside)?
        && run(at(target, "mv")?.args(["-f", "-T", "--"]).arg(beside.join(name)).arg(new_name))?.success();
    run(at(target, "rm")?.args(["-rf", "--"]).arg(&beside))?;
    seen_to(done)
}

fn seen_to(done: bool) -> Result<(), Failure> {
    let why = || Failure::Refused("tar, mkdir or mv failed, see its output above".to_owned());
    done.then_some(()).ok_or_else(why)
}

/// From one tar to the other. True if both were content.
fn stream(mut pack: Command, mut unpack: Command, into: &Path) -> Result<bool, LabError> {
    let mut packing = pack.stdout(Stdio::piped()).spawn().map_err(LabError::while_doing("start tar"))?;
    let stream = packing.stdout.take().map_or_else(Stdio::null, Stdio::from);
    unpack.arg("-C").arg(into).args(["-xf", "-"]);
    let unpacked = unpack.stdin(stream).status().map_err(LabError::while_doing("start tar"))?;
    // Our end of the pipe is in it: as long as that is open, the first tar waits for a reader.
    drop(unpack);
    let packed = packing.wait().map_err(LabError::while_doing("wait for tar"))?;
    Ok(packed.success() && unpacked.success())
}

fn run(command: &mut Command) -> Result<ExitStatus, LabError> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.status().map_err(LabError::while_doing(format!("start {program}")))
}

fn missing_name(path: &str) -> LabError {
    LabError::System { doing: format!("copy {path}"), source: std::io::Error::other("it names no file or directory") }
}

enum Endpoint<'a> {
    Here(&'a str),
    There(&'a str, &'a str),
}

impl<'a> Endpoint<'a> {
    /// `worker-01:/etc/hosts` is in a machine; `./a:b` is a file here.
    fn parse(text: &'a str) -> Self {
        match text.split_once(':') {
            Some((machine, path)) if !machine.contains('/') && !machine.is_empty() => Self::There(machine, path),
            _ => Self::Here(text),
        }
    }

    /// A program, where the endpoint is.
    fn command(&self, program: &str, lab: &Lab, capabilities: &Capabilities) -> Result<Command, LabError> {
        let Self::There(name, _) = self else { return Ok(Command::new(program)) };
        let mut command = inside(&Machine::new(lab, name, capabilities)?)?;
        command.arg(program);
        Ok(command)
    }

    fn path(&self) -> &'a str {
        match self {
            Self::There(_, "") => "/root",
            Self::Here(path) | Self::There(_, path) => path,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_here_and_what_is_in_a_machine() {
        for (text, machine, path) in [
            ("worker-01:/etc/hosts", Some("worker-01"), "/etc/hosts"),
            ("worker-01:", Some("worker-01"), "/root"),
            ("./a:b", None, "./a:b"),
            ("/tmp/x", None, "/tmp/x"),
            (":x", None, ":x"),
        ] {
            let endpoint = Endpoint::parse(text);
            let found = match endpoint {
                Endpoint::There(machine, _) => Some(machine),
                Endpoint::Here(_) => None,
            };
            assert_eq!((found, endpoint.path()), (machine, path), "{text}");
        }
    }
    /// Both endpoints are on this computer; in a machine the same commands run.
    #[test]
    fn copies_go_where_cp_puts_them() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).display().to_string();
        fs::create_dir_all(at("folder/inner")).unwrap();
        fs::create_dir_all(at("there")).unwrap();
        fs::write(at("file"), "content").unwrap();
        fs::write(at("old"), "old").unwrap();
        fs::write(at("folder/inner/deep"), "deep").unwrap();
        for (from, to, expected) in [
            ("file", "there", Ok("there/file")),
            ("file", "there/", Ok("there/file")),
            ("file", "there/new-name", Ok("there/new-name")),
            ("file", "old", Ok("old")),
            ("folder", "there/renamed", Ok("there/renamed/inner/deep")),
            ("folder", "there", Ok("there/folder/inner/deep")),
            ("file", "nowhere/new-name", Err("there is no directory")),
            ("file", "nowhere/", Err("there is no directory")),
            ("nothing", "there/copy", Err("tar")),
        ] {
            let (source, target) = (at(from), at(to));
            let command = |_: &Endpoint<'_>, program: &str| Ok(Command::new(program));
            let ended = transfer(&Endpoint::Here(&source), &Endpoint::Here(&target), &command);
            match expected {
                Ok(copy) => {
                    assert!(ended.is_ok(), "{from} to {to}: {ended:?}");
                    let text = fs::read_to_string(at(copy)).unwrap();
                    assert_eq!(text, if from == "file" { "content" } else { "deep" }, "{from} to {to}");
                }
                Err(why) => assert!(format!("{ended:?}").contains(why), "{from} to {to}: {ended:?}"),
            }
        }
        let left: Vec<_> = fs::read_dir(at("there")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".blackstart")), "{left:?}");
    }
}
