//! What the proofs share.

pub(crate) mod lists;
pub(crate) mod patient;
pub(crate) mod scripted;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use engine::{Event, Runner, Sink, State};
use host::{Disk, FixedClock, Host, Kind, disk::model::ModelDisk};

/// Where the runner keeps its own files.
pub(crate) const STATE_DIR: &str = "/var/lib/cluster-state";

/// Everything on a disk but the runner's own files: path to kind, mode and content.
pub(crate) fn tree(disk: &dyn Disk) -> BTreeMap<PathBuf, String> {
    let mut tree = BTreeMap::new();
    let mut todo = vec![PathBuf::from("/")];
    while let Some(dir) = todo.pop() {
        for name in disk.list(&dir).unwrap() {
            let path = dir.join(name);
            if path == Path::new(STATE_DIR) {
                continue;
            }
            let meta = disk.meta(&path).unwrap().unwrap();
            let content = match meta.kind {
                Kind::Directory => {
                    todo.push(path.clone());
                    String::new()
                }
                Kind::File => String::from_utf8_lossy(&disk.read(&path).unwrap()).into_owned(),
                Kind::Link => disk.read_link(&path).unwrap().unwrap().display().to_string(),
                Kind::Other => "neither".to_owned(),
            };
            tree.insert(path, format!("{:?} {:04o} {content}", meta.kind, meta.mode));
        }
    }
    tree
}

/// Remembers every event.
#[derive(Default)]
pub(crate) struct Recorder(Mutex<Vec<Event>>);

impl Sink for Recorder {
    fn event(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

impl Recorder {
    /// The events so far; the next call returns only what came after.
    pub(crate) fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// The events of a step so far.
    pub(crate) fn states(&self, step: &str) -> Vec<State> {
        let events = self.0.lock().unwrap();
        events.iter().filter(|event| event.step.as_deref() == Some(step)).map(|event| event.state).collect()
    }
}

/// A runner on a model of a disk, with a clock that stands still, and its events.
pub(crate) fn runner_on(disk: &ModelDisk) -> (Runner, Arc<Recorder>) {
    let clock = Arc::new(FixedClock("2026-11-15T12:00:00Z".parse().unwrap()));
    let mut runner = Runner::new(Host { disk: Arc::new(disk.clone()), clock, ..Host::real() }, STATE_DIR, "node-01");
    let recorder = Arc::new(Recorder::default());
    runner.sinks.push(recorder.clone());
    (runner, recorder)
}
