//! What is left of a disk when the power or the process goes.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

use super::{DirNode, Entry, FileNode, ModelDisk, State};

impl ModelDisk {
    /// The disk as it may be found after the power came back. This one is left as it is.
    #[must_use]
    pub fn crash(&self, choose: &mut dyn FnMut(usize) -> usize) -> Self {
        let before = self.lock().clone();
        let mut after = State::default();
        let mut todo = vec![PathBuf::from("/")];
        while let Some(path) = todo.pop() {
            // A directory that was removed, but whose removal did not reach the disk, comes back empty.
            let gone = DirNode::empty(0o755);
            let dir = before.dirs.get(&path).unwrap_or(&gone);
            let mut entries = dir.entries.clone();
            for (name, seen) in &dir.unsynced {
                match seen[choose(seen.len())] {
                    Some(entry) => entries.insert(name.clone(), entry),
                    None => entries.remove(name),
                };
            }
            for (name, entry) in &mut entries {
                match *entry {
                    Entry::Dir => todo.push(path.join(name)),
                    Entry::File(file) => {
                        after.files.push(survive(&before.files[file], choose));
                        *entry = Entry::File(after.files.len() - 1);
                    }
                }
            }
            let mode = surviving_mode(dir.durable_mode, dir.mode, choose);
            after.dirs.insert(path, DirNode { entries, ..DirNode::empty(mode) });
        }
        Self { state: Arc::new(Mutex::new(after)) }
    }

    /// Goes through everything that [`ModelDisk::crash`] may leave behind, and says how many outcomes there were.
    pub fn every_crash(&self, mut visit: impl FnMut(Self)) -> usize {
        // The choices of one crash, each with how many there were: read like the digits of an odometer.
        let mut choices: Vec<(usize, usize)> = Vec::new();
        let mut outcomes = 0;
        loop {
            let mut next = 0;
            visit(self.crash(&mut |of| {
                if next == choices.len() {
                    choices.push((0, of));
                }
                next += 1;
                choices[next - 1].0
            }));
            outcomes += 1;
            // What comes after a raised digit may be another question altogether: it is asked again.
            while let Some((chosen, of)) = choices.pop() {
                if chosen + 1 < of {
                    choices.push((chosen + 1, of));
                    break;
                }
            }
            if choices.is_empty() {
                return outcomes;
            }
        }
    }

    /// Cuts the power before the first, after the first, … and after the last operation of `act`, and goes through
    /// everything that may be found then. `act` says whether it succeeded, and `verify` gets that. Returns how many
    /// outcomes were evaluated. This disk is left as it is.
    pub fn every_power_cut(&self, act: impl Fn(&Self) -> bool, mut evaluate: impl FnMut(Self, bool)) -> usize {
        let mut outcomes = 0;
        for operations in 0.. {
            let disk = self.restart();
            disk.cut_after(operations);
            let succeeded = act(&disk);
            outcomes += disk.every_crash(|after| evaluate(after, succeeded));
            if disk.operations() < self.operations() + operations {
                break; // it ended before the power did
            }
        }
        outcomes
    }

    /// The disk as the next process finds it after this one was killed: nothing is lost, and nothing that was not
    /// synced has become durable. This one is left as it is.
    #[must_use]
    pub fn restart(&self) -> Self {
        let mut state = self.lock().clone();
        state.cut_after = None;
        state.locked.clear();
        Self { state: Arc::new(Mutex::new(state)) }
    }
}

fn survive(file: &FileNode, choose: &mut dyn FnMut(usize) -> usize) -> FileNode {
    let content = if file.synced {
        file.content.clone()
    } else {
        match choose(4) {
            0 => file.durable.clone(),
            1 => Vec::new(),
            2 => file.content[..file.content.len() / 2].to_vec(),
            _ => file.content.clone(),
        }
    };
    let mode = surviving_mode(file.durable_mode, file.mode, choose);
    FileNode { durable: content.clone(), content, synced: true, mode, durable_mode: mode, link: file.link }
}

fn surviving_mode(durable: u32, now: u32, choose: &mut dyn FnMut(usize) -> usize) -> u32 {
    if durable == now { now } else { [durable, now][choose(2)] }
}
