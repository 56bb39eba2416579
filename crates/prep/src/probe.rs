//! The files by which a pod says how it is, and the probes that read them.
//!
//! | file | there as long as |
//! |---|---|
//! | `/tmp/healthy` | the pod's loop goes on, be it working or waiting |
//! | `/tmp/ready` | the node is fine; it holds the name of the state |
//!
//! The iSCSI pod's probes are plain `cat`. Those of the GPU pod look at the marker on the node too, which takes a little
//! more: a run that takes long is alive before there is a marker, a stuck pod is not alive although there is one, and a
//! machine without a GPU needs none.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{Prep, State, paths};

/// Where a pod keeps its files.
pub(crate) const OWN_DIR: &str = "/tmp";

/// Where the node's file system is in a pod.
pub(crate) use nodekit::from_pod::HOST;

/// The files of a pod, and the node's.
#[derive(Debug, Clone)]
pub struct Signs {
    own: PathBuf,
    host: PathBuf,
}

impl Default for Signs {
    fn default() -> Self {
        Self::new(OWN_DIR, HOST)
    }
}

impl Signs {
    /// With other directories, for tests.
    pub fn new(own: impl Into<PathBuf>, host: impl Into<PathBuf>) -> Self {
        Self { own: own.into(), host: host.into() }
    }

    pub(crate) fn healthy(&self) -> PathBuf {
        self.own.join("healthy")
    }

    pub(crate) fn ready(&self) -> PathBuf {
        self.own.join("ready")
    }

    fn marker(&self) -> PathBuf {
        self.host.join(paths::GPU_MARKER.trim_start_matches('/'))
    }

    /// Whether a pod is alive: its loop goes on.
    pub fn probe_live(&self, prep: Prep) -> Result<String, String> {
        let healthy = self.healthy();
        if !healthy.exists() {
            return Err(format!("{} is not there: the pod does nothing any more", healthy.display()));
        }
        Ok(format!("the pod is at work{}", self.and_marker(prep)))
    }

    /// Whether a node is ready: it was seen to work, and what the documents call ready is there.
    pub fn probe_ready(&self, prep: Prep) -> Result<String, String> {
        let ready = self.ready();
        let Ok(state) = fs::read_to_string(&ready) else {
            return Err(format!("{} is not there: the node is not fine{}", ready.display(), self.and_marker(prep)));
        };
        let needed = match prep {
            Prep::Iscsi => self.host.join(paths::script(prep).strip_prefix("/").unwrap_or(Path::new(""))),
            Prep::Gpu => self.marker(),
        };
        let is_needed = state.trim() != State::NotApplicable.name();
        if is_needed && !needed.exists() {
            return Err(format!("the node is {}, but {} is not there", state.trim(), needed.display()));
        }
        Ok(format!("the node is {}{}", state.trim(), self.and_marker(prep)))
    }

    fn and_marker(&self, prep: Prep) -> &'static str {
        match prep {
            Prep::Iscsi => "",
            Prep::Gpu if self.marker().exists() => ", with its marker",
            Prep::Gpu => ", without a marker",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alive_is_who_works_and_ready_is_what_is_fine() {
        let dir = tempfile::tempdir().unwrap();
        let signs = Signs::new(dir.path(), dir.path().join("host"));
        let write = |path: PathBuf, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let probes = || {
            let shown = |probe: Result<String, String>| match probe {
                Ok(output) => format!("yes: {output}"),
                Err(output) => format!("no: {}", output.replace(&dir.path().display().to_string(), "")),
            };
            [shown(signs.probe_live(Prep::Gpu)), shown(signs.probe_ready(Prep::Gpu))]
        };
        assert_eq!(
            probes(),
            [
                "no: /healthy is not there: the pod does nothing any more",
                "no: /ready is not there: the node is not fine, without a marker"
            ]
        );
        write(signs.healthy(), "");
        assert_eq!(probes()[0], "yes: the pod is at work, without a marker", "a long run is alive");
        write(signs.ready(), "not-applicable\n");
        assert_eq!(probes()[1], "yes: the node is not-applicable, without a marker");
        write(signs.ready(), "ready\n");
        assert_eq!(probes()[1], "no: the node is ready, but /host/var/lib/gpu-bootstrap.done is not there");
        write(signs.marker(), "{}");
        assert_eq!(probes()[1], "yes: the node is ready, with its marker");
        fs::remove_file(signs.healthy()).unwrap();
        assert!(probes()[0].starts_with("no: "), "a marker keeps no stuck pod alive");

        write(signs.ready(), "ready\n");
        assert!(signs.probe_ready(Prep::Iscsi).unwrap_err().ends_with("iscsi-bootstrap.sh is not there"));
    }
}
