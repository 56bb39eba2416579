//! Machines that the real Ignition sets up: each gets an empty disk and its config, and is switched on.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::support::{Cluster, PROGRAM, eventually, run};

/// Whose it is may log in as `core`.
pub(crate) const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExample me@desk";
/// Where a case puts what ends the bootstrap node, for a machine that is running.
const FAULT: &str = "/run/systemd/system/cluster-bootstrap.service.d/fault.conf";
/// The same on a disk, for a machine that is off: good for the first boot only, as what is in /run.
const ARMED: &str = "/etc/blackstart-fault.env";

/// What `Cluster::install` does, on a machine without anything.
pub(crate) fn install(cluster: &Cluster, machine: &str) {
    let fault = cluster.try_sh(machine, &format!("cat {FAULT}")).out;
    let out = render(cluster, machine);
    if let Some(variable) = fault.lines().find_map(|line| line.strip_prefix("Environment=")) {
        arm(&out.join(format!("{machine}.ign")), variable);
    }
    lab(cluster, "wipe", &["--yes", machine, "--ignition", &out.display().to_string()]);
    switch_on(cluster);
}

/// Renders a machine's config, and the administrator's kubeconfig; returns where they are.
pub(crate) fn render(cluster: &Cluster, machine: &str) -> PathBuf {
    let [config, sealed, out, key] = ["config", "sealed", "ign", "key.pub"].map(|name| cluster.lab.dir().join(name));
    fs::write(&key, format!("{KEY}\n")).unwrap();
    // One that a case has armed is as good as it was to `ignition render`, and would stay.
    match fs::remove_file(out.join(format!("{machine}.ign"))) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        removed => removed.unwrap(),
    }
    let [config, sealed, shown, key] = [config, sealed, out.clone(), key].map(|path| path.display().to_string());
    let render = ["ignition", "render", &config, "--sealed", &sealed, "--out", &shown, "--node", machine];
    run(PROGRAM, &[&render[..], &["--ssh-key", &key]].concat()).ok();
    out
}

/// `lab up`, also while a case boots a machine that it has ended.
pub(crate) fn switch_on(cluster: &Cluster) {
    lab(cluster, "up", &["--machines-only"]);
}

/// A command of the lab, which does one thing at a time.
pub(crate) fn lab(cluster: &Cluster, command: &str, arguments: &[&str]) {
    eventually("the lab has done it", || {
        let done = cluster.lab.run(command, arguments);
        let is_busy = done.err.contains("BS-LAB-013");
        assert!(is_busy || done.code == Some(0), "{done:?}");
        !is_busy
    });
}

/// Puts the fault into a config. The file is moved to /run by the first start, so that a boot later nothing is left of it.
fn arm(config: &Path, variable: &str) {
    let mut text: Value = serde_json::from_slice(&fs::read(config).unwrap()).unwrap();
    let source = format!("data:,{}%0A", variable.replace(':', "%3A"));
    let file = json!({ "path": ARMED, "mode": 384, "overwrite": true, "contents": { "source": source } });
    text["storage"]["files"].as_array_mut().unwrap().push(file);
    let contents = format!(
        "[Service]\nExecStartPre=-/bin/mv {ARMED} /run/blackstart-fault.env\nEnvironmentFile=-/run/blackstart-fault.env\nRestartSec=1s\n"
    );
    let units = text["systemd"]["units"].as_array_mut().unwrap();
    let unit = units.iter_mut().find(|unit| unit["name"] == "cluster-bootstrap.service").unwrap();
    unit["dropins"] = json!([{ "name": "fault.conf", "contents": contents }]);
    fs::write(config, text.to_string()).unwrap();
}
