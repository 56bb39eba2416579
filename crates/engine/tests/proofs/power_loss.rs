//! A whole run, and a whole undo, on the disk that keeps only what it promised: the power goes at every operation. And
//! the worst case: first the process is killed, so that something is seen that is not durable; the next process builds
//! on it; then the power goes.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use engine::{Playbook, Undos};
use host::{Change, create_dir_all, disk::model::ModelDisk, write_atomic};

use crate::support::{
    lists::ids,
    runner_on,
    scripted::{Scripted, file},
    tree,
};

type Tree = BTreeMap<PathBuf, String>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Run,
    Undo,
}

use Verb::{Run, Undo};

/// Replaces a file, makes one in a new directory, removes one and changes a mode.
fn playbook() -> Playbook {
    let remove = Change::Remove { path: "/etc/legacy".into() };
    let mode = Change::Directory { path: "/srv".into(), mode: 0o700 };
    Playbook::never_undone("small")
        .step(Scripted::new("write", vec![file("/etc/settings"), file("/new/file")]), &[])
        .step(Scripted::new("tidy", vec![remove, mode]), &ids(&["write"]))
        .build()
        .unwrap()
}

fn fresh() -> ModelDisk {
    let disk = ModelDisk::default();
    for dir in ["/etc", "/srv", "/var/lib"] {
        create_dir_all(&disk, Path::new(dir), 0o755).unwrap();
    }
    for path in ["/etc/settings", "/etc/legacy"] {
        write_atomic(&disk, Path::new(path), b"the user's", 0o640).unwrap();
    }
    disk
}

/// Does it on this disk, and says whether it came to its end.
fn perform(verb: Verb, disk: &ModelDisk) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let (runner, _) = runner_on(disk);
    runtime.block_on(async {
        match verb {
            Run => runner.run(&playbook()).await.is_ok_and(|report| report.is_complete()),
            Undo => runner.undo(&Undos::new("small")).await.is_ok_and(|report| report.failed.is_empty()),
        }
    })
}

/// A disk on which this comes next, and the trees that a run and an undo must end with.
fn scene(verb: Verb) -> (ModelDisk, impl Fn(Verb) -> Tree) {
    let disk = fresh();
    let finished = fresh();
    assert!(perform(Run, &finished));
    let (untouched, done) = (tree(&disk), tree(&finished));
    let start = if verb == Run { disk } else { finished };
    (start, move |verb| if verb == Run { done.clone() } else { untouched.clone() })
}

#[test]
fn the_power_may_go_at_any_operation() {
    for (disturbed, then) in [(Run, Run), (Run, Undo), (Undo, Undo), (Undo, Run)] {
        let (start, expected) = scene(disturbed);
        let outcomes = start.every_power_cut(
            |disk| perform(disturbed, disk),
            |after, succeeded| {
                if succeeded {
                    assert_eq!(tree(&after), expected(disturbed), "{disturbed:?} was done, and is not durable");
                }
                assert!(perform(then, &after), "{then:?} after {disturbed:?}");
                assert_eq!(tree(&after), expected(then), "{then:?} after {disturbed:?}");
            },
        );
        assert!(outcomes > 300, "only {outcomes} outcomes: is the model still losing anything?");
    }
}

#[test]
fn the_power_may_go_after_a_kill() {
    for (killed, cut, then) in [(Run, Run, Run), (Run, Run, Undo), (Run, Undo, Undo), (Undo, Undo, Undo)] {
        let (start, expected) = scene(killed);
        let mut tried = 0;
        for first in 0.. {
            let disk = start.restart();
            disk.cut_after(first);
            if perform(killed, &disk) {
                break;
            }
            let left = disk.restart();
            // Not all pairs, but every second point comes up after some first one.
            for second in (first % 29..).step_by(29) {
                let disk = left.restart();
                disk.cut_after(second);
                let done = perform(cut, &disk);
                // Everything that may be lost is lost, or a little less.
                for keep_every in [usize::MAX, 2] {
                    let mut asked = 0;
                    let after = disk.crash(&mut |of| {
                        asked += 1;
                        if asked % keep_every == 0 { of - 1 } else { 0 }
                    });
                    let case = format!("{killed:?} killed after {first}, {cut:?} cut after {second}, then {then:?}");
                    assert!(perform(then, &after), "{case}");
                    assert_eq!(tree(&after), expected(then), "{case}");
                    tried += 1;
                }
                if done {
                    break;
                }
            }
        }
        assert!(tried > 300, "only {tried} cases");
    }
}
