//! Copies files into and out of machines, through tar so that links and modes survive.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use crate::{Lab, LabError, Machine, Surroundings, power::inside};

/// Copies `from` into the directory `to`; one of them is `MACHINE:PATH`.
pub fn copy(lab: &Lab, surroundings: &Surroundings, from: &str, to: &str) -> Result<(), LabError> {
    let (source, target) = (Place::parse(from), Place::parse(to));
    let path = Path::new(source.path());
    let name = path.file_name().ok_or_else(|| missing_name(from))?;
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));

    let mut pack = source.tar(lab, surroundings)?;
    pack.arg("-C").arg(dir).args(["-cf", "-"]).arg(name).stdout(Stdio::piped());
    let mut unpack = target.tar(lab, surroundings)?;
    unpack.args(["-C", target.path(), "-xf", "-"]);

    let mut packing = pack.spawn().map_err(LabError::while_doing("start tar"))?;
    let stream = packing.stdout.take().map_or_else(Stdio::null, Stdio::from);
    let unpacked = unpack.stdin(stream).status().map_err(LabError::while_doing("start tar"))?;
    // Our end of the pipe is in it: as long as that is open, the first tar waits for somebody to read.
    drop(unpack);
    let packed = packing.wait().map_err(LabError::while_doing("wait for tar"))?;
    if packed.success() && unpacked.success() {
        return Ok(());
    }
    let source = std::io::Error::other("tar failed, see what it said above; the target must be a directory");
    Err(LabError::System { doing: format!("copy {from} to {to}"), source })
}

fn missing_name(path: &str) -> LabError {
    LabError::System { doing: format!("copy {path}"), source: std::io::Error::other("it names no file or directory") }
}

enum Place<'a> {
    Here(&'a str),
    There(&'a str, &'a str),
}

impl<'a> Place<'a> {
    /// `worker-01:/etc/hosts` is in a machine; `./a:b` is a file here.
    fn parse(text: &'a str) -> Self {
        match text.split_once(':') {
            Some((machine, path)) if !machine.contains('/') && !machine.is_empty() => Self::There(machine, path),
            _ => Self::Here(text),
        }
    }

    /// `tar`, where the place is.
    fn tar(&self, lab: &Lab, surroundings: &Surroundings) -> Result<Command, LabError> {
        let Self::There(name, _) = self else { return Ok(Command::new("tar")) };
        let mut command = inside(&Machine::new(lab, name, surroundings)?)?;
        command.arg("tar");
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
            let place = Place::parse(text);
            let found = match place {
                Place::There(machine, _) => Some(machine),
                Place::Here(_) => None,
            };
            assert_eq!((found, place.path()), (machine, path), "{text}");
        }
    }
}
