//! The whole of it: stages, reboots, power cuts and ways back, by the real runner on a machine that is a directory.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use ::host::Host;
use engine::Runner;

use super::{
    samples::{OLD_OS, OS, Sample},
    testing::{Machine, status},
    *,
};

#[test]
fn the_lists_make_sense_and_can_be_undone() {
    let run = Machine::default().run();
    let mut text = String::new();
    for (name, list) in [("stage 1", Rhcos.stage1(&run)), ("stage 2", Rhcos.stage2(&run))] {
        text += &format!("{name}:\n");
        for about in list.unwrap().about() {
            text += &format!("  {}: {}, as {}\n", about.id, about.title, about.why);
        }
    }
    insta::assert_snapshot!(text);
    assert!(Rhcos.undos(&*Machine::default().host().disk).is_ok() && Rhcos.way_back_reboots());
}

#[tokio::test]
async fn what_it_says_of_its_target() {
    let machine = Machine::default();
    machine.fetched(&Sample::default().served());
    let (run, host) = (machine.run(), machine.host());
    let described = Rhcos.describe(&run, &host).await.unwrap();
    assert_eq!(described["from"], "no MachineConfig on 9.6 (000000000000)");
    assert_eq!(described["to"], "rendered-worker-new on 222222222222");
    assert_eq!(described["target"].len(), 64);
    // Fetched once, it is not fetched again.
    Rhcos.fetch(&run, &host).await.unwrap();
}

#[tokio::test]
async fn when_a_reboot_is_needed() {
    let machine = Machine::default();
    machine.fetched(&Sample::default().served());
    let (run, host) = (machine.run(), machine.host());
    let needs = async || Rhcos.needs_reboot(&run, &host).await.unwrap();
    assert!(needs().await, "the old image is booted");
    machine.deployed(&[("new", OS, "b"), ("old", OLD_OS, "p")]);
    assert!(!needs().await, "nothing was done, and the image is the right one");
    ::host::create_dir_all(&*host.disk, &crate::paths::kept(), 0o700).unwrap();
    kept::start(&*host.disk, &run.order.run).unwrap();
    assert!(needs().await, "the daemon has run in this boot");
    machine.boot("boot-2");
    assert!(!needs().await, "and then the machine was rebooted");
}

/// Checksum, image, and flags, of each.
type Deployments = Vec<(String, &'static str, String)>;
/// Paths with what is there, and checksums with flags.
type Seen = (Vec<(String, Option<String>)>, Vec<(String, String)>);

/// A stand-in for rpm-ostree, podman and the machine-config-daemon: deployments are a list, and an image has no content. The `/etc` of
/// all deployments is one.
struct World {
    machine: Machine,
    state: Arc<Mutex<Deployments>>,
}

impl World {
    fn new() -> Self {
        let machine = Machine::default();
        machine.fetched(&Sample::default().served());
        machine.write("/proc/cmdline", "root=/dev/x mitigations=auto");
        machine.write("/ostree/deploy/rhcos/deploy/old.0/etc/x", "");
        let old = Sample {
            name: "rendered-worker-old".into(),
            os: OLD_OS.into(),
            files: vec![("/etc/only-old".into(), "old\n".into())],
            ..Sample::default()
        };
        machine.write(node::CURRENT, &old.full().to_string());
        machine.write("/etc/only-old", "old\n");
        machine.write("/etc/crio/crio.conf", "old\n");
        machine.write("/etc/systemd/system/kubelet.service", "old unit");
        let state = Arc::new(Mutex::new(vec![("old".to_owned(), OLD_OS, "b".to_owned())]));
        let (held, disk, pulled) = (state.clone(), machine.host().disk, Mutex::new(false));
        machine.answers(move |command| {
            let mut list = held.lock().unwrap();
            let words: Vec<&str> = command.split(' ').collect();
            match words.as_slice() {
                ["rpm-ostree", "status", ..] => {
                    let shown: Vec<_> =
                        list.iter().map(|(sum, image, flags)| (sum.as_str(), *image, flags.as_str())).collect();
                    return Some(Ok(status(&shown)));
                }
                ["rpm-ostree", "cleanup", _] => list.retain(|(_, _, flags)| !flags.contains('s')),
                ["rpm-ostree", "rollback"] => list.swap(0, 1),
                ["ostree", "admin", "pin", "--unpin", at] => {
                    let flags = &mut list[at.parse::<usize>().unwrap()].2;
                    *flags = flags.replace('p', "");
                }
                ["ostree", "admin", "pin", at] => list[at.parse::<usize>().unwrap()].2 += "p",
                ["podman", "image", "exists", _] => {
                    return Some(if *pulled.lock().unwrap() {
                        Ok(String::new())
                    } else {
                        Err("exit status: 1|".into())
                    });
                }
                ["podman", "pull", ..] => *pulled.lock().unwrap() = true,
                ["podman", "run", .., "--machineconfig-file", file] => {
                    list.retain(|(_, _, flags)| !flags.contains('s'));
                    list.insert(0, ("new".to_owned(), OS, "s".to_owned()));
                    apply(&*disk, Path::new(file));
                }
                _ => return None,
            }
            Some(Ok(String::new()))
        });
        Self { machine, state }
    }

    /// What is staged is booted, or lost with the power.
    fn boot(&self, id: &str, is_clean: bool) {
        let mut list = self.state.lock().unwrap();
        if !is_clean {
            list.retain(|(_, _, flags)| !flags.contains('s'));
        }
        for (at, (_, _, flags)) in list.iter_mut().enumerate() {
            *flags = flags.replace(['s', 'b'], "") + if at == 0 { "b" } else { "" };
        }
        self.machine.boot(id);
    }

    fn runner(&self) -> Runner {
        let host: Host = self.machine.host();
        ::host::create_dir_all(&*host.disk, Path::new(crate::paths::STATE_DIR), 0o700).unwrap();
        Runner::new(host, crate::paths::STATE_DIR, "w1")
    }

    async fn run(&self, list: Result<Playbook, PlaybookError>) {
        let report = self.runner().run(&list.unwrap()).await.unwrap();
        assert!(report.is_complete(), "{:?}", report.failed);
    }

    async fn stage1(&self) {
        self.run(Rhcos.stage1(&self.machine.run())).await;
    }

    async fn stage2(&self) {
        self.run(Rhcos.stage2(&self.machine.run())).await;
    }

    async fn needs_reboot(&self) -> bool {
        Rhcos.needs_reboot(&self.machine.run(), &self.machine.host()).await.unwrap()
    }

    async fn way_back(&self) {
        let undos = Rhcos.undos(&*self.machine.host().disk).unwrap();
        let report = self.runner().undo(&undos).await.unwrap();
        assert!(report.failed.is_empty(), "{:?}", report.failed);
    }

    /// Every file in `/etc` with its content, and the deployments.
    fn seen(&self) -> Seen {
        let disk = self.machine.host().disk;
        let files = node::tree(&*disk, Path::new("/etc")).unwrap();
        let files = files.iter().map(|path| path.display().to_string());
        let files = files.map(|path| (path.clone(), self.machine.read(&path))).collect();
        let list = self.state.lock().unwrap();
        (files, list.iter().map(|(sum, _, flags)| (sum.clone(), flags.clone())).collect())
    }

    /// How often the daemon was run.
    fn daemons(&self) -> usize {
        self.machine.asked().iter().filter(|command| command.contains("--machineconfig-file")).count()
    }
}

/// What the machine-config-daemon does with files and units, but for links and owners.
fn apply(disk: &dyn Disk, file: &Path) {
    let config = machine_config::MachineConfig::parse(&disk.read(file).unwrap()).unwrap();
    let write = |path: &Path, bytes: &[u8]| {
        ::host::create_dir_all(disk, path.parent().unwrap(), 0o755).unwrap();
        ::host::write_atomic(disk, path, bytes, 0o644).unwrap();
    };
    for file in config.files() {
        write(Path::new(file["path"].as_str().unwrap()), &data_url::contents(file).unwrap());
    }
    for unit in node::unit_files(&config) {
        write(&unit, b"new unit");
    }
    write(Path::new(node::CURRENT), config.raw().to_string().as_bytes());
}

#[tokio::test]
async fn all_the_way() {
    let world = World::new();
    world.stage1().await;
    assert!(world.needs_reboot().await);
    world.stage1().await;
    assert_eq!(world.daemons(), 1, "what is done is not done again");
    world.boot("boot-2", true);
    assert!(!world.needs_reboot().await);
    // Killed before it knew that it was done: the next boot looks, and nothing is run again.
    world.stage1().await;
    world.stage2().await;
    world.stage2().await;
    assert_eq!(world.daemons(), 0);
    assert!(world.machine.read("/etc/only-old").is_none());
    assert_eq!(world.machine.read("/etc/crio/crio.conf").unwrap(), "new\n");
    assert!(world.machine.read(payload::ENCAPSULATED).is_none());
    assert_eq!(world.seen().1, [("new".to_owned(), "b".to_owned()), ("old".to_owned(), "p".to_owned())]);
    let pinned = || world.seen().1.into_iter().filter(|(_, flags)| flags.contains('p')).count();
    let report = world.runner().undo(&Rhcos.finish().unwrap()).await.unwrap();
    assert!(report.failed.is_empty() && pinned() == 0, "{:?}", report.failed);
    assert_eq!(world.machine.read("/etc/crio/crio.conf").unwrap(), "new\n", "nothing else is undone");
}

#[tokio::test]
async fn a_power_cut_before_the_reboot_costs_another_run() {
    let world = World::new();
    world.stage1().await;
    world.boot("boot-2", false);
    assert!(world.needs_reboot().await, "the old system runs");
    world.stage1().await;
    assert_eq!(world.daemons(), 2);
    world.boot("boot-3", true);
    world.stage2().await;
}

#[tokio::test]
async fn there_is_a_way_back_from_everywhere() {
    for stages in 0..4 {
        let world = World::new();
        let before = world.seen().0;
        if stages > 0 {
            world.stage1().await;
        }
        if stages > 1 {
            world.boot("boot-2", true);
        }
        if stages > 2 {
            world.stage2().await;
        }
        world.way_back().await;
        world.way_back().await;
        world.boot("boot-3", true);
        let (after, deployments) = world.seen();
        assert_eq!(after, before, "from {stages}");
        assert_eq!(deployments[0], ("old".to_owned(), "b".to_owned()), "from {stages}");
        let wrote_there = world.machine.asked().iter().any(|command| command.starts_with("unshare"));
        assert_eq!(wrote_there, stages > 1, "only then the old deployment has an /etc that is not this one");
    }
}

#[tokio::test]
async fn a_way_back_that_fails_stays_open() {
    let world = World::new();
    world.stage1().await;
    world.boot("boot-2", true);
    let broken = Arc::new(Mutex::new(true));
    let is_broken = broken.clone();
    world.machine.answers(move |command| {
        (command == "rpm-ostree rollback" && *is_broken.lock().unwrap()).then(|| Err("exit status: 1|no space".into()))
    });
    let undos = Rhcos.undos(&*world.machine.host().disk).unwrap();
    let report = world.runner().undo(&undos).await.unwrap();
    let failed: Vec<&str> = report.failed.iter().map(|failure| failure.step.as_str()).collect();
    assert_eq!(failed, ["mcd", "pin-deployment"]);
    assert!(world.seen().1[1].1.contains('p'), "what leads back stays pinned");
    *broken.lock().unwrap() = false;
    world.way_back().await;
    assert_eq!(world.seen().1[0], ("old".to_owned(), String::new()));
}
