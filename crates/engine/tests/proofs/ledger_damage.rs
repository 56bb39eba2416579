//! Ledgers that cannot be read, and disks that take no more: recover from the previous generation, or stop with a clear
//! code and lose nothing. Never start over.

use std::{fs, path::Path, process::Command, sync::Arc};

use engine::{LedgerStore, Playbook, Report, RunError, Runner, State, Undos, codes};
use explain::{Code, Explain};
use host::{Host, RealDisk, disk::model::ModelDisk};
use tempfile::TempDir;

use crate::support::{
    Recorder, STATE_DIR,
    lists::ids,
    runner_on,
    scripted::{Scripted, file},
    tree,
};

fn playbook() -> Playbook {
    Playbook::never_undone("files")
        .step(Scripted::new("one", vec![file("/etc/one")]), &[])
        .step(Scripted::new("two", vec![file("/etc/two/a"), file("/etc/two/b")]), &ids(&["one"]))
        .step(Scripted::new("three", vec![file("/etc/three")]), &[])
        .build()
        .unwrap()
}

fn runner_at(root: &Path) -> (Runner, Arc<Recorder>) {
    let mut runner = Runner::new(Host::rooted(root), STATE_DIR, "node-01");
    let recorder = Arc::new(Recorder::default());
    runner.sinks.push(recorder.clone());
    (runner, recorder)
}

#[derive(Debug, Clone, Copy)]
enum Expected {
    Recovers,
    Stops(Code),
}

use Expected::{Recovers, Stops};

/// What is done to `ledger.json` and `ledger.prev.json`.
type Damage = fn(newest: &Path, previous: &Path);

const CASES: [(&str, Damage, Expected); 14] = [
    ("torn", |newest, _| edit(newest, |text| text.truncate(text.len() / 2)), Recovers),
    ("empty", |newest, _| edit(newest, Vec::clear), Recovers),
    ("zeros", |newest, _| edit(newest, |text| text.fill(0)), Recovers),
    ("garbage", |newest, _| edit(newest, |text| *text = b"not a ledger".to_vec()), Recovers),
    ("flipped byte", |newest, _| edit(newest, |text| swap(text, "verified", "verifiee")), Recovers),
    ("other JSON", |newest, _| edit(newest, |text| *text = b"{\"version\": 1}".to_vec()), Recovers),
    ("missing", |newest, _| fs::remove_file(newest).unwrap(), Recovers),
    (
        "newer",
        |newest, _| edit(newest, |text| swap(text, "\"version\": 1", "\"version\": 9")),
        Stops(codes::LEDGER_NEWER),
    ),
    (
        "older",
        |newest, _| edit(newest, |text| swap(text, "\"version\": 1", "\"version\": 0")),
        Stops(codes::LEDGER_OLDER),
    ),
    (
        "missing, the previous one newer",
        |newest, previous| {
            fs::remove_file(newest).unwrap();
            edit(previous, |text| swap(text, "\"version\": 1", "\"version\": 9"));
        },
        Stops(codes::LEDGER_NEWER),
    ),
    (
        "both torn",
        |newest, previous| {
            for path in [newest, previous] {
                edit(path, |text| text.truncate(100));
            }
        },
        Stops(codes::LEDGER_DAMAGED),
    ),
    (
        "torn, the previous one missing",
        |newest, previous| {
            edit(newest, |text| text.truncate(100));
            fs::remove_file(previous).unwrap();
        },
        Stops(codes::LEDGER_DAMAGED),
    ),
    (
        "missing, the previous one empty",
        |newest, previous| {
            fs::remove_file(newest).unwrap();
            edit(previous, Vec::clear);
        },
        Stops(codes::LEDGER_DAMAGED),
    ),
    (
        "a directory in its place",
        |newest, _| {
            fs::remove_file(newest).unwrap();
            fs::create_dir(newest).unwrap();
        },
        Stops(host::codes::NOT_A_FILE),
    ),
];

/// Not through `fs::write`: the two generations may be names of one file, and only one of them is to be damaged.
fn edit(path: &Path, edit: impl FnOnce(&mut Vec<u8>)) {
    let mut text = fs::read(path).unwrap();
    edit(&mut text);
    fs::remove_file(path).unwrap();
    fs::write(path, text).unwrap();
}

fn swap(text: &mut Vec<u8>, from: &str, to: &str) {
    let edited = String::from_utf8(text.clone()).unwrap().replacen(from, to, 1);
    assert_ne!(edited.as_bytes(), text, "nothing to damage");
    *text = edited.into_bytes();
}

#[tokio::test]
async fn a_damaged_ledger_is_recovered_or_stops_the_run() {
    for (name, damage, expected) in CASES {
        let root = TempDir::new().unwrap();
        let (runner, recorder) = runner_at(root.path());
        assert!(runner.run(&playbook()).await.unwrap().is_complete());
        let disk = RealDisk::new(root.path());
        let final_tree = tree(&disk);
        let [newest, previous] =
            ["ledger.json", "ledger.prev.json"].map(|name| root.path().join(&STATE_DIR[1..]).join(name));
        let whole = fs::read(&newest).unwrap();
        damage(&newest, &previous);
        recorder.take();

        let ended = runner.run(&playbook()).await;
        let events = recorder.take();
        assert_eq!(tree(&disk), final_tree, "{name}");
        match expected {
            Recovers => {
                assert!(ended.unwrap().is_complete(), "{name}");
                let reported: Vec<_> = events.iter().filter(|event| event.state == State::LedgerRecovered).collect();
                assert_eq!(reported.len(), 1, "{name}");
                assert!(reported[0].message().contains("ledger.json"), "{name}: {}", reported[0].message());
                let opened = LedgerStore::new(STATE_DIR).open(&disk).unwrap();
                assert_eq!((opened.recovered, opened.ledger.steps.len()), (None, 3), "{name}: not healed");
            }
            Stops(code) => {
                let error = ended.unwrap_err();
                assert_eq!(error.code(), code, "{name}: {error}");
                assert!(error.to_string().contains("ledger"), "{name}: which file? {error}");
                assert_eq!(events, [], "{name}: the run began");
                if newest.is_dir() {
                    fs::remove_dir(&newest).unwrap();
                }
                fs::write(&newest, whole).unwrap();
                let report = runner.run(&playbook()).await.unwrap();
                assert_eq!((report.is_complete(), report.changed), (true, Vec::new()), "{name}: something was lost");
            }
        }
    }
}

/// The code and the text of whatever stopped the run.
fn failure(ended: &Result<Report, RunError>) -> Option<(Code, String)> {
    match ended {
        Ok(report) => report.failed.first().map(|failure| (failure.error.code(), failure.error.to_string())),
        Err(error) => Some((error.code(), error.to_string())),
    }
}

#[tokio::test]
async fn a_disk_that_fills_up_anywhere_loses_nothing() {
    let undisturbed = ModelDisk::default();
    runner_on(&undisturbed).0.run(&playbook()).await.unwrap();
    let mut stopped = 0;
    for operations in 0..undisturbed.operations() {
        let disk = ModelDisk::default();
        disk.fill_after(operations);
        let (runner, _) = runner_on(&disk);
        let ended = runner.run(&playbook()).await;
        if let Some((code, text)) = failure(&ended) {
            assert_eq!(code, host::codes::DISK_FULL, "{operations}: {text}");
            assert!(text.contains('/'), "which file? {text}");
            stopped += 1;
        }
        disk.fill(false);
        assert!(runner.run(&playbook()).await.unwrap().is_complete(), "{operations}");
        assert_eq!(tree(&disk), tree(&undisturbed), "{operations}");
        assert_eq!(runner.undo(&Undos::new("files")).await.unwrap().failed.len(), 0, "{operations}");
        assert!(tree(&disk).keys().all(|path| path.starts_with("/var")), "{operations}: {:?}", tree(&disk));
    }
    assert!(stopped > 50, "only {stopped} runs met a full disk");
}

/// A small file system of its own, gone with the guard. `None`, with the reason printed, where it cannot be made.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let dir = TempDir::new().unwrap();
        let options = ["-t", "tmpfs", "-o", "size=128k", "none"];
        if !nix::unistd::geteuid().is_root() || !run("mount", &options, dir.path()) {
            println!("skipped: mounting a small file system needs root");
            return None;
        }
        Some(Self(dir))
    }

    fn remount(&self, options: &str) {
        assert!(run("mount", &["-o", &format!("remount,{options}")], self.0.path()));
    }

    /// Fills everything but this many pages.
    fn fill(&self, free_pages: u64) {
        let path = self.0.path().join("filler");
        let _full = fs::write(&path, vec![0; 1 << 20]).unwrap_err();
        let filler = fs::OpenOptions::new().write(true).open(&path).unwrap();
        filler.set_len(filler.metadata().unwrap().len().next_multiple_of(4096) - free_pages * 4096).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        run("umount", &[], self.0.path());
    }
}

fn run(program: &str, arguments: &[&str], path: &Path) -> bool {
    Command::new(program).args(arguments).arg(path).status().is_ok_and(|status| status.success())
}

#[tokio::test]
async fn a_really_full_disk_stops_the_run_and_the_next_one_completes() {
    let undisturbed = TempDir::new().unwrap();
    runner_at(undisturbed.path()).0.run(&playbook()).await.unwrap();
    let final_tree = tree(&RealDisk::new(undisturbed.path()));
    for free_pages in 0.. {
        let Some(small) = SmallDisk::mount() else { return };
        let root = small.0.path();
        small.fill(free_pages);
        let (runner, _) = runner_at(root);
        let Some((code, text)) = failure(&runner.run(&playbook()).await) else {
            assert!(free_pages > 4, "the disk was not full");
            return;
        };
        assert_eq!(code, host::codes::DISK_FULL, "{free_pages} pages: {text}");
        assert!(text.contains("/etc/") || text.contains(STATE_DIR), "{free_pages} pages: which file? {text}");
        LedgerStore::new(STATE_DIR).open(&RealDisk::new(root)).unwrap();
        // Emptied first: a process that another test starts this instant may still have it open.
        fs::write(root.join("filler"), "").unwrap();
        fs::remove_file(root.join("filler")).unwrap();
        assert!(runner.run(&playbook()).await.unwrap().is_complete(), "{free_pages} pages");
        assert_eq!(tree(&RealDisk::new(root)), final_tree, "{free_pages} pages");
    }
}

#[tokio::test]
async fn a_read_only_disk_stops_the_run_and_the_next_one_completes() {
    let Some(small) = SmallDisk::mount() else { return };
    let (runner, recorder) = runner_at(small.0.path());
    small.remount("ro");
    for _ in 0..2 {
        let error = runner.run(&playbook()).await.unwrap_err();
        assert_eq!(error.code(), host::codes::READ_ONLY, "{error}");
        assert!(error.to_string().contains('/'), "which file? {error}");
        assert_eq!(recorder.take(), [], "the run began");
        small.remount("rw");
        assert!(runner.run(&playbook()).await.unwrap().is_complete());
        recorder.take();
        small.remount("ro");
    }
    assert_eq!(runner.undo(&Undos::new("files")).await.unwrap_err().code(), host::codes::READ_ONLY);
}
