//! Containers of pods: they outlive containerd and are ended without it, so that it may be stopped, broken or gone.
//!
//! ```text
//! runc deletes each container (its processes end) ─► shims are killed ─► mounts and network namespaces go
//! ```
//! Containers of other clients of the same containerd live in another namespace; they are not looked at, except to see
//! that they are there.

use std::path::{Path, PathBuf};

use engine::StepError;
use host::{Cmd, Disk, Host, HostError};
use tokio::time::{Duration, Instant, sleep};

use super::{mounts, nft};
use crate::codes;

/// containerd's own things while it runs.
pub const RUN: &str = "/run/containerd";
/// What it keeps.
pub const DATA: &str = "/var/lib/containerd";

const NAMESPACE: &str = "k8s.io";
const SOCKET: &str = "/run/containerd/containerd.sock";
const RUNC: &str = "/usr/local/bin/runc";
const SHIM: &str = "containerd-shim-runc-v2";
/// One directory per namespace, and in it one per container.
const STATES: &str = "/run/containerd/runc";
const TASKS: &str = "/run/containerd/io.containerd.runtime.v2.task";
/// Memory and names that the containers of a pod share.
const SANDBOXES: &str = "/run/containerd/io.containerd.grpc.v1.cri";
const NETWORKS: &str = "/run/netns";
/// What names of network namespaces begin with that containerd makes for pods.
const POD_NETWORK: &str = "cni-";

const NOTES: &str = "/var/lib/cni/results";
/// Our network's name, and the container's follows.
const OUR_NETWORK: &str = "blackstart-";

const GONE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(50);

/// Ends every container of every pod, and removes what held it.
pub async fn end(host: &Host) -> Result<(), StepError> {
    let states = Path::new(STATES).join(NAMESPACE);
    let ids = names(&*host.disk, &states)?;
    nft::remove_host_ports(host, &ids).await?; // as long as the ids are known
    for id in ids {
        host.doing(format!("end container {id}"));
        let delete = Cmd::new(RUNC).arg("--root").arg(&states).args(["delete", "--force", &id]);
        super::run(host, delete).await?;
    }
    kill_shims(host).await?;
    mounts::unmount_below(host, &Path::new(TASKS).join(NAMESPACE)).await?;
    mounts::unmount_below(host, Path::new(SANDBOXES)).await?;
    remove_networks(host).await?;
    forget_networks(&*host.disk)
}

/// The namespaces of others in which containers are.
pub fn of_others(disk: &dyn Disk) -> Result<Vec<String>, HostError> {
    let mut others = Vec::new();
    for dir in [STATES, TASKS] {
        for namespace in names(disk, Path::new(dir))? {
            let is_new = namespace != NAMESPACE && !others.contains(&namespace);
            if is_new && !names(disk, &Path::new(dir).join(&namespace))?.is_empty() {
                others.push(namespace);
            }
        }
    }
    Ok(others)
}

fn names(disk: &dyn Disk, dir: &Path) -> Result<Vec<String>, HostError> {
    if disk.exists(dir)? { disk.list(dir) } else { Ok(Vec::new()) }
}

/// A shim waits for containerd to end it, and containerd is stopped.
async fn kill_shims(host: &Host) -> Result<(), StepError> {
    let shims = shims(&*host.disk)?;
    if shims.is_empty() {
        return Ok(());
    }
    host.doing(format!("end {}", explain::counted(shims.len(), "shim")));
    // Some may have gone by themselves a moment ago; who is left is seen below.
    let _ = host.commands.run(&Cmd::new("kill").arg("-KILL").args(shims.clone())).await;
    let until = Instant::now() + GONE;
    while !self::shims(&*host.disk)?.is_empty() {
        if Instant::now() > until {
            let message = format!("processes of containers do not end: {}", shims.join(", "));
            return Err(StepError::new(codes::STILL_RUNS, message));
        }
        sleep(POLL).await;
    }
    Ok(())
}

/// The numbers of our shims' processes.
fn shims(disk: &dyn Disk) -> Result<Vec<String>, HostError> {
    let mut found = Vec::new();
    for name in disk.list(Path::new("/proc"))? {
        if !name.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        // It may end while it is looked at.
        let line = disk.read(&PathBuf::from("/proc").join(&name).join("cmdline")).unwrap_or_default();
        if is_shim(&line) {
            found.push(name);
        }
    }
    Ok(found)
}

/// `containerd-shim-runc-v2 -namespace k8s.io -id … -address /run/containerd/containerd.sock`, with zeros for spaces.
fn is_shim(line: &[u8]) -> bool {
    let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
    let follows = |flag: &str, value: &str| {
        words.windows(2).any(|pair| pair[0] == flag.as_bytes() && pair[1] == value.as_bytes())
    };
    let program = Path::new(std::str::from_utf8(words[0]).unwrap_or_default());
    program.file_name().is_some_and(|name| name == SHIM)
        && follows("-namespace", NAMESPACE)
        && follows("-address", SOCKET)
}

/// Network namespaces of pods, and with each the links into it. One in which something runs belongs to another program by now.
async fn remove_networks(host: &Host) -> Result<(), StepError> {
    for name in names(&*host.disk, Path::new(NETWORKS))? {
        if !name.starts_with(POD_NETWORK) {
            continue;
        }
        let lives = super::run(host, Cmd::new("ip").args(["netns", "pids", &name])).await?;
        if lives.trim().is_empty() {
            super::run(host, Cmd::new("ip").args(["netns", "delete", &name])).await?;
        }
    }
    Ok(())
}

/// What was noted of pods' networks, for the day on which they are taken down.
fn forget_networks(disk: &dyn Disk) -> Result<(), StepError> {
    for name in of_our_network(&names(disk, Path::new(NOTES))?) {
        host::remove_file(disk, &Path::new(NOTES).join(name))?;
    }
    Ok(())
}

/// `NETWORK-CONTAINER-INTERFACE`: all notes of containers that are in our network, of their loopback, too. Ours comes
/// last, because it says whose the others are.
fn of_our_network(notes: &[String]) -> Vec<&String> {
    let (ours, others): (Vec<&String>, Vec<&String>) = notes.iter().partition(|name| name.starts_with(OUR_NETWORK));
    let containers: Vec<&str> = ours.iter().filter_map(|name| name[OUR_NETWORK.len()..].split('-').next()).collect();
    let is_theirs = |name: &&String| containers.iter().any(|container| name.contains(&format!("-{container}-")));
    others.into_iter().filter(is_theirs).chain(ours).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_shim_is_ours_by_namespace_and_socket() {
        let line = |namespace: &str, socket: &str| {
            format!("/usr/local/bin/{SHIM}\0-namespace\0{namespace}\0-id\0a1\0-address\0{socket}\0").into_bytes()
        };
        assert!(is_shim(&line(NAMESPACE, SOCKET)));
        assert!(!is_shim(&line("mine", SOCKET)));
        assert!(!is_shim(&line(NAMESPACE, "/run/other/containerd.sock")));
        assert!(!is_shim(format!("grep\0{SHIM}\0-namespace\0{NAMESPACE}\0-address\0{SOCKET}\0").as_bytes()));
        assert!(!is_shim(b""));
    }

    #[test]
    fn notes_of_our_containers_go_and_those_of_others_stay() {
        let notes = ["blackstart-4f2a-eth0", "cni-loopback-4f2a-lo", "cni-loopback-77aa-lo", "podman-77aa-eth0"];
        let notes = notes.map(str::to_owned);
        assert_eq!(of_our_network(&notes), ["cni-loopback-4f2a-lo", "blackstart-4f2a-eth0"]);
    }

    #[test]
    fn only_namespaces_of_others_with_something_in_them_count() {
        let root = tempfile::tempdir().unwrap();
        let disk = Host::rooted(root.path()).disk;
        assert!(of_others(&*disk).unwrap().is_empty());
        for dir in [format!("{STATES}/k8s.io/a"), format!("{STATES}/empty"), format!("{TASKS}/mine/b")] {
            fs::create_dir_all(root.path().join(dir.trim_start_matches('/'))).unwrap();
        }
        assert_eq!(of_others(&*disk).unwrap(), ["mine"]);
    }
}
