//! A whole lab: every machine at once, and what the computer knows of them.
//!
//! A machine that runs is asked to gather by itself, as a person would do it on metal. One that is off, does not answer in
//! time or cannot do it gives its files. All of it is scrubbed once more, of the secrets of all machines together.

use std::{path::Path, process::Stdio, time::Duration};

use futures::future::join_all;
use host::{Disk, Host, RealDisk};
use lab::{Capabilities, Lab, Machine, MachineState};
use nodekit::Layout;
use tokio::{process::Command, time::timeout};

use crate::{
    Archive, GatherError, Gathered, Progress,
    collect::{Collected, Source, collect},
    item::{How, Item},
    machine,
    scrub::Scrubber,
    secrets::Secrets,
};

/// Longer than every item of a machine together, on a computer that is busy.
const LIMIT: Duration = Duration::from_mins(2);

/// What a machine runs.
const ASK: &[&str] = &[
    "env",
    "-i",
    "HOME=/root",
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "blackstart",
    "gather",
    "--to",
    "-",
];

/// Gathers everything of a lab.
pub async fn lab(
    lab: &Lab,
    capabilities: &Capabilities,
    host: &Host,
    emit: &dyn Fn(&Progress<'_>),
) -> Result<Gathered, GatherError> {
    let total = lab.machines.len() + 1;
    let done = std::cell::Cell::new(0);
    let ended = |last: &str| {
        done.set(done.get() + 1);
        emit(&Progress { done: done.get(), total, last });
    };
    let machines = join_all(lab.machines.iter().map(|record| async {
        let collected = one(lab, &record.name, capabilities).await;
        ended(&record.name);
        (record.name.clone(), collected)
    }));
    let own = async {
        let collected = computer(lab, capabilities, host).await;
        ended("the computer");
        collected
    };
    let (machines, own) = tokio::join!(machines, own);

    let scrubber = Scrubber::new(&secrets(lab)).map_err(GatherError::NotClean)?;
    let mut gathered = Gathered::new(lab.name.as_str(), host.clock.now());
    for (item, collected) in own {
        gathered.add(&scrubber, &item, collected);
    }
    for (name, collected) in machines {
        let item = Item::line(name, "a machine, with an index of its own", "blackstart gather");
        gathered.add(&scrubber, &item, collected);
    }
    Ok(gathered)
}

/// One machine, by itself or from its files.
async fn one(lab: &Lab, name: &str, capabilities: &Capabilities) -> Collected {
    let started = std::time::Instant::now();
    let machine = match Machine::new(lab, name, capabilities) {
        Ok(machine) => machine,
        Err(error) => return Collected::missing(explain::chain(&error)),
    };
    let state = machine.state().await;
    let asked = match state {
        MachineState::Missing => Err("it was never made".to_owned()),
        MachineState::Off | MachineState::Paused => Err(format!("it is {}", state.word())),
        _ => ask(&machine).await,
    };
    let (archive, error) = match asked {
        Ok(archive) => (Ok(archive), None),
        Err(why) => (from_files(&machine).await, Some(format!("{why}; what could be had is from its files"))),
    };
    let mut collected = match archive {
        Ok(archive) => Collected { files: archive.files.into_iter().collect(), error, ..Collected::default() },
        Err(why) => Collected::missing(format!("{}; its files give nothing: {why}", error.unwrap_or_default())),
    };
    if let Ok(console) = std::fs::read(machine.dir().join("console.log")) {
        collected.files.push(("console.log".into(), crate::files::end_of(console)));
    }
    for (path, _) in &mut collected.files {
        *path = format!("{name}/{path}");
    }
    Collected { took: started.elapsed(), ..collected }
}

async fn ask(machine: &Machine<'_>) -> Result<Archive, String> {
    let mut command = Command::from(lab::inside(machine).map_err(|error| explain::chain(&error))?);
    command.args(ASK).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let output = match timeout(LIMIT, command.output()).await {
        Ok(output) => output.map_err(|error| error.to_string())?,
        Err(_) => return Err(format!("it did not answer within {} s", LIMIT.as_secs())),
    };
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`blackstart gather` in it ended with {}: {}", output.status, message.trim()));
    }
    Archive::unpack(&output.stdout).map_err(|error| format!("its archive cannot be read: {error}"))
}

async fn from_files(target: &Machine<'_>) -> Result<Archive, String> {
    let root = target.upper();
    let gathered = machine(&Host::rooted(&root), &Layout::default(), &root, &|_| ()).await;
    gathered.map(|gathered| gathered.archive()).map_err(|error| explain::chain(&error))
}

/// What this computer knows of the lab.
async fn computer(lab: &Lab, capabilities: &Capabilities, host: &Host) -> Vec<(Item, Collected)> {
    let dir = Lab::dir(&lab.name);
    let below = |name: &str| dir.join(name).display().to_string();
    let files = [
        "lab.json",
        "cuts.json",
        "config/cluster.yaml",
        "config/nodes/*.yaml",
        "state/ledger.json",
        "state/runs/*.json",
    ];
    let items = [
        Item::files("lab", "the lab as it was asked for, and how its last run ended", files.map(below)),
        Item::line(
            "computer/system.txt",
            "the computer",
            "uname -a; cat /etc/os-release; uptime; free -m; df -hT; df -i",
        ),
        Item::line("computer/network.txt", "its network", "ip -s address; ip route; nft list ruleset"),
        Item::line(
            "computer/processes.txt",
            "machines and their supervisors",
            "ps -eo pid,ppid,state,etimes,rss,args --sort=pid | grep -e nspawn -e 'lab supervise'",
        ),
        Item { how: How::Line("blackstart lab status -o json".into()), ..Item::line("status.json", "machines", "") },
    ];
    let [.., status] = &items;
    let asked = &items[..items.len() - 1];
    let source =
        Source { host, kubernetes_dir: Path::new("/etc/kubernetes"), is_this_machine: true, variables: Vec::new() };
    let mut all: Vec<(Item, Collected)> = asked.iter().cloned().zip(collect(&source, asked, &|_| ()).await).collect();
    let machines = match lab::status(lab, capabilities).await {
        Ok(machines) => {
            let text = serde_json::to_vec_pretty(&machines).unwrap_or_default();
            Collected { files: vec![(status.name.clone(), text)], ..Collected::default() }
        }
        Err(error) => Collected::missing(explain::chain(&error)),
    };
    all.push((status.clone(), machines));
    all
}

/// The secrets of all machines, and of the directories that were sealed for them.
fn secrets(lab: &Lab) -> Secrets {
    let mut all = Secrets::default();
    for record in &lab.machines {
        let sealed = Lab::dir(&lab.name).join("sealed").join(&record.name);
        let this: &dyn Disk = &RealDisk::new("/");
        let machine_dir = lab.machine_dir(&record.name);
        let upper = RealDisk::new(machine_dir.join("upper"));
        all.join(&Secrets::read_sealed(this, &sealed).secrets);
        all.join(&Secrets::read_sealed(this, &machine_dir.join("kubelet")).secrets);
        all.join(&Secrets::read(&upper, &Layout::default()).secrets);
    }
    all
}
