//! Where both tools start from: containerd runs, and has the images of the bundle.

use std::{path::Path, process::Command, thread::sleep, time::Duration};

use bundle::Manifest;
use host::{Capabilities, Host};
use render::{Cgroup, Machine};

use crate::machines::{MASTER, Machines};

/// Machines in that state.
pub(crate) fn machines(masters: u8, workers: u8) -> Machines {
    prepared(Machines::boot(masters, workers))
}

/// The same with a bootstrap node, three masters and a worker.
pub(crate) fn pivot() -> Machines {
    prepared(Machines::boot_as(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/pivot").as_path()))
}

fn prepared(machines: Machines) -> Machines {
    let manifest = machines.sh(MASTER, "cat /opt/blackstart/current/manifest.json");
    let manifest: Manifest = serde_json::from_str(&manifest).unwrap();
    // As our own step would write and start it, so that neither tool has to do it again.
    let containerd = render::containerd(&facts(), manifest.image("pause").unwrap());
    for machine in machines.names() {
        for file in containerd.files.iter().chain([&containerd.unit_file()]) {
            machines.write(machine, &file.path.display().to_string(), &file.text);
        }
        machines.sh(machine, "systemctl daemon-reload; systemctl start containerd");
        let import = "ctr --namespace k8s.io images import --local";
        machines.sh(machine, &format!("for image in /opt/blackstart/current/images/*; do {import} $image; done"));
    }
    machines
}

/// Lets this computer finish what was begun before the measurement: its disk, and whatever the last command started.
pub(crate) fn wait_until_quiet() {
    assert!(Command::new("sync").status().unwrap().success(), "sync failed");
    sleep(Duration::from_secs(5));
}

/// What machines of this computer may do; they share its kernel.
fn facts() -> Machine {
    let found = Capabilities::read(&*Host::real().disk).unwrap();
    Machine {
        cgroup: if found.cgroup_v2 { Cgroup::V2 } else { Cgroup::V1 },
        may_raise_limits: found.may_raise_limits,
        may_size_conntrack: found.may_set_conntrack,
        has_own_disk: false,
        resolv_conf: "/etc/resolv.conf".into(),
    }
}
