//! One run at a time: a second process is refused with the name of the holder, and a dead one does not block.

use std::io::{BufRead, BufReader};

use engine::Holder;
use host::{Disk, RealDisk};
use jiff::Timestamp;
use serde_json::Value;

use crate::support::patient::Machine;

#[test]
fn a_second_process_is_refused_until_the_first_is_dead() {
    let machine = Machine::new();
    let begun = Timestamp::now();
    let mut first = machine.start(&["held", "run"]);
    let mut lines = BufReader::new(first.stdout.take().unwrap()).lines();
    let waiting = lines.any(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap()["state"] == "waiting");
    assert!(waiting, "the first run does not wait");

    let note = RealDisk::new(machine.root()).read("/var/lib/cluster-state/lock".as_ref()).unwrap();
    let holder: Holder = serde_json::from_slice(&note).unwrap();
    assert_eq!((holder.pid, holder.playbook.as_str()), (first.id(), "held"));
    assert!(begun <= holder.since && holder.since <= Timestamp::now(), "{holder:?}");
    for verb in ["run", "undo"] {
        let second = machine.run(&["machine", verb]);
        let expected = format!(
            "BS-ENGINE-001: another run is working on this machine: process {}, `held`, since {:.0}\n",
            first.id(),
            holder.since
        );
        assert_eq!((second.status.code(), second.stderr.as_str()), (Some(1), expected.as_str()));
        assert_eq!(second.steps_reported("started"), [""; 0], "the second run went on");
    }

    first.kill().unwrap();
    first.wait().unwrap();
    let next = machine.run(&["machine", "run"]);
    assert!(next.status.success(), "the lock of a dead process blocks: {}", next.stderr);
}
