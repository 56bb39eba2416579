//! A process as a static pod: a file that a kubelet reads, in the network of the machine and with the machine's files.
//!
//! Its program is the machine's own, of the installed bundle, which is mounted. So the image may be any that is there (the one
//! that pods begin with), nothing large has to be imported before the first process of a cluster starts, and a pod and a unit
//! never run two builds.

use serde_json::{Value, json};

use crate::{
    process::{Health, Process},
    service::{CONFIG_VARIABLE, RenderedFile, config_hash},
    yaml,
};

/// Where kubelets look for them.
pub const MANIFESTS: &str = "/etc/kubernetes/manifests";

/// Where the components are, each version beside the others.
const COMPONENTS: &str = "/opt/blackstart";
/// The programs of the bundle that is in use.
const PROGRAMS: &str = "/opt/blackstart/current/bin";

/// Where a process sees what it does not start without: beside the directories that it has, which may hold it, too.
const NEEDED: &str = "/needed";

impl Process {
    /// As a static pod of this image. The program is the one that is installed on the machine.
    pub fn static_pod(&self, image: &str) -> RenderedFile {
        manifest(self, image)
    }
}

/// For root alone: arguments show how the control plane is secured.
fn manifest(process: &Process, image: &str) -> RenderedFile {
    let Process { name, command, files, reads, writes, needs, health, environment, .. } = process;
    let words = command.words();
    let hash = config_hash(&words.join("\n"), files);
    let read = reads.iter().chain([&COMPONENTS]).map(|path| (*path, true));
    let mounted: Vec<(&str, bool)> = read.chain(writes.iter().map(|path| (*path, false))).collect();
    let needed: Vec<String> = needs.iter().map(|path| path.display().to_string()).collect();
    // Another configuration makes another pod, which the kubelet starts in place of the old one.
    let own = [("PATH", PROGRAMS.to_owned()), (CONFIG_VARIABLE, hash)];
    let variables = own.iter().chain(environment).map(|(name, value)| json!({ "name": name, "value": value }));
    let pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "kube-system",
            "labels": { "component": name, "tier": "control-plane" },
        },
        "spec": {
            "hostNetwork": true,
            "priorityClassName": "system-node-critical",
            "securityContext": { "seccompProfile": { "type": "RuntimeDefault" } },
            "containers": [{
                "name": name,
                "image": image,
                // It is on the machine, or it is nowhere.
                "imagePullPolicy": "Never",
                "command": words,
                "env": variables.collect::<Vec<_>>(),
                "startupProbe": probe(health, health.live, 2, 60),
                "livenessProbe": probe(health, health.live, 10, 8),
                "readinessProbe": probe(health, health.ready, 1, 3),
                // As the units: keys and data are root's. The image's own user is another.
                "securityContext": { "allowPrivilegeEscalation": false, "runAsUser": 0, "runAsGroup": 0 },
                "volumeMounts": mounted.iter().map(|(path, is_read)| json!({
                    "name": volume(path), "mountPath": path, "readOnly": is_read,
                })).chain(needed.iter().map(|path| json!({
                    "name": volume(path), "mountPath": format!("{NEEDED}{path}"), "readOnly": true,
                }))).collect::<Vec<_>>(),
            }],
            "volumes": mounted.iter().map(|(path, is_read)| json!({
                "name": volume(path),
                "hostPath": { "path": path, "type": if *is_read { "" } else { "DirectoryOrCreate" } },
            })).chain(needed.iter().map(|path| json!({
                "name": volume(path),
                "hostPath": { "path": path, "type": "File" },
            }))).collect::<Vec<_>>(),
        },
    });
    RenderedFile::private(format!("{MANIFESTS}/{name}-pod.yaml"), yaml::document(&pod))
}

fn probe(health: &Health, path: &str, every: u32, failures: u32) -> Value {
    let Health { scheme, port, .. } = health;
    json!({
        "httpGet": { "host": "127.0.0.1", "path": path, "port": port, "scheme": scheme.to_uppercase() },
        "periodSeconds": every,
        "timeoutSeconds": 15,
        "failureThreshold": failures,
    })
}

/// A volume is called what its path is.
fn volume(path: &str) -> String {
    path.trim_start_matches('/').replace(['/', '.'], "-")
}

#[cfg(test)]
mod tests {
    use crate::{
        etcd_process, kube_apiserver_process, kube_controller_manager_process, kube_scheduler_process,
        samples::{HOME, cluster, node},
    };

    #[test]
    fn the_control_plane_as_pods() {
        let cluster = cluster(HOME);
        let node = node(&cluster, "master-01");
        let processes = [
            etcd_process(&cluster, node),
            kube_apiserver_process(&cluster, node),
            kube_controller_manager_process(&cluster, node),
            kube_scheduler_process(&cluster, node),
        ];
        for process in processes {
            let pod = process.static_pod("blackstart.local/control-plane:1.36.2");
            insta::assert_snapshot!(process.name, format!("=== {} {:04o}\n{}", pod.path.display(), pod.mode, pod.text));
        }
    }

    #[test]
    fn etcd_of_a_bootstrap_node_needs_its_decision() {
        let cluster = cluster(HOME);
        let node = node(&cluster, "master-01");
        let machine = "5f2e9a1c5f2e9a1c5f2e9a1c";
        let process = crate::etcd_alone(&cluster, node, machine, "/var/lib/etcd/initial.env".as_ref());
        let pod = process.static_pod("blackstart.local/pause:3.10").text;
        for part in [
            "--initial-cluster-token=home-etcd-5f2e9a1c5f2e9a1c\"",
            "mountPath: /needed/var/lib/etcd/initial.env\n",
            "path: /var/lib/etcd/initial.env\n",
            "type: File\n",
        ] {
            assert!(pod.contains(part), "{part} in {pod}");
        }
    }

    #[test]
    fn a_unit_and_a_pod_run_the_same_words() {
        let cluster = cluster(HOME);
        let node = node(&cluster, "master-01");
        let process = kube_scheduler_process(&cluster, node);
        let unit = crate::kube_scheduler(&cluster, node).unit;
        let pod = process.static_pod("image").text;
        for word in process.command.words().iter().skip(1) {
            assert!(unit.contains(word) && pod.contains(word), "{word}");
        }
    }
}
