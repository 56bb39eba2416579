//! Nothing is done unasked, and nothing where there is nothing to do.

use serde_json::Value;

use crate::support::{Check, MASTER, Machines};

pub(crate) const CHECKS: &[Check] = &[
    ("on a machine where nothing was ever started there is nothing to undo", nothing),
    ("without a terminal and without --yes nothing is done", unasked),
    ("a dry run shows everything and changes nothing", dry_run),
];

fn nothing(machines: &Machines) {
    let output = machines.reset(MASTER, "--uninstall");
    assert!(output.code == Some(0) && output.out.starts_with("nothing to undo"), "{output:?}");
    machines.assert_as_before(MASTER);
}

fn unasked(machines: &Machines) {
    machines.sh(MASTER, "blackstart node install --config /root/sealed");
    let output = machines.try_sh(MASTER, "blackstart node reset --uninstall < /dev/null");
    output.refused(2, "BS-CLI-002");
    assert!(output.err.contains("will be undone on"), "{output:?}");
    assert_eq!(machines.sh(MASTER, "test -e /etc/systemd/system/cluster-bootstrap.service && echo there"), "there");
}

fn dry_run(machines: &Machines) {
    let shown = machines.sh(MASTER, "blackstart node reset --uninstall --dry-run -o json");
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let steps = shown["steps"].as_array().unwrap();
    let names: Vec<&str> = steps.iter().filter_map(|step| step["id"].as_str()).collect();
    assert!(names.contains(&"own-units") && names.contains(&"configuration"), "{shown:#}");
    let text = machines.sh(MASTER, "blackstart node reset --uninstall --dry-run");
    assert!(text.contains("remove /etc/systemd/system/cluster-bootstrap.service"), "{text}");
    assert!(text.ends_with("nothing was changed"), "{text}");
    assert_eq!(machines.sh(MASTER, "test -e /etc/systemd/system/cluster-bootstrap.service && echo there"), "there");
    machines.reset_cleanly(MASTER);
}
