//! The ledger on a disk that keeps only what it promised: the power goes at every operation of a write, also of a write
//! that comes after a kill at every operation of another one, and every outcome is looked at.

use std::path::Path;

use engine::{LedgerError, LedgerStore};
use host::{Disk, create_dir_all, disk::model::ModelDisk, write_atomic};

use crate::support::STATE_DIR;

/// What a run does: the lock makes the directory durable, opening makes durable what is read, then comes the write.
fn next_generation(disk: &dyn Disk) -> Result<(), LedgerError> {
    create_dir_all(disk, Path::new(STATE_DIR), 0o755)?;
    disk.sync_dir(Path::new(STATE_DIR))?;
    let store = LedgerStore::new(STATE_DIR);
    let mut ledger = store.open(disk)?.ledger;
    store.write(disk, &mut ledger)
}

/// A mistake on purpose: for a moment there is no newest generation.
fn next_generation_wrong(disk: &dyn Disk) -> Result<(), LedgerError> {
    let store = LedgerStore::new(STATE_DIR);
    let [newest, previous] = ["ledger.json", "ledger.prev.json"].map(|name| Path::new(STATE_DIR).join(name));
    let mut ledger = store.open(disk)?.ledger;
    if ledger.generation > 0 {
        disk.rename(&newest, &previous)?;
    }
    store.write(disk, &mut ledger)
}

/// A disk with that many generations written, all of them durable.
fn disk_with(generations: u64) -> ModelDisk {
    let disk = ModelDisk::default();
    create_dir_all(&disk, Path::new("/var/lib"), 0o755).unwrap();
    for _ in 0..generations {
        next_generation(&disk).unwrap();
    }
    disk
}

/// Outcomes, and the first violation, of every power cut during a write on a disk where `written` generations had been
/// written to the end.
fn violation(
    start: &ModelDisk,
    written: u64,
    write: fn(&dyn Disk) -> Result<(), LedgerError>,
) -> (usize, Option<String>) {
    let store = LedgerStore::new(STATE_DIR);
    let seen = store.open(start).unwrap().ledger.generation;
    let mut violation = None;
    let evaluate = |after: ModelDisk, returned: bool| {
        let allowed = if returned { seen + 1..=seen + 1 } else { written..=seen + 1 };
        match store.open(&after) {
            Ok(opened) if opened.recovered.is_none() && allowed.contains(&opened.ledger.generation) => {}
            other => drop(violation.get_or_insert(format!("{allowed:?} allowed, found {other:?}"))),
        }
    };
    let outcomes = start.every_power_cut(|disk| write(disk).is_ok(), evaluate);
    (outcomes, violation)
}

#[test]
fn the_ledger_is_this_generation_or_the_one_before_after_every_power_cut() {
    let mut outcomes = 0;
    for generations in 0..4 {
        let before = disk_with(generations);
        let (seen, violated) = violation(&before, generations, next_generation);
        assert_eq!(violated, None, "after {generations} writes");
        outcomes += seen;
        for operations in 0.. {
            let killed = before.restart();
            killed.cut_after(operations);
            if next_generation(&killed).is_ok() {
                break;
            }
            let (seen, violated) = violation(&killed.restart(), generations, next_generation);
            assert_eq!(violated, None, "after {generations} writes and a kill after {operations} operations");
            outcomes += seen;
        }
    }
    assert!(outcomes > 3_000, "only {outcomes} outcomes: is the model still losing anything?");
}

#[test]
fn a_store_without_a_newest_generation_for_a_moment_is_caught() {
    let (_, violated) = violation(&disk_with(2), 2, next_generation_wrong);
    assert!(violated.is_some());
}

#[test]
fn a_damaged_newest_generation_does_not_push_out_the_whole_one() {
    let disk = disk_with(3);
    write_atomic(&disk, &Path::new(STATE_DIR).join("ledger.json"), b"torn", 0o600).unwrap();
    let store = LedgerStore::new(STATE_DIR);
    let good_or_previous = |after: ModelDisk, returned: bool| {
        let opened = store.open(&after).unwrap();
        let expected = if opened.recovered.is_some() && !returned { 2 } else { 3 };
        assert_eq!(opened.ledger.generation, expected);
    };
    let outcomes = disk.every_power_cut(|disk| next_generation(disk).is_ok(), good_or_previous);
    assert!(outcomes > 20, "only {outcomes} outcomes");
}
