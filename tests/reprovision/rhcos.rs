//! The driver `rhcos` from the label to the end, on a machine that stands in for RHCOS: see `openshift.rs` for what is real.

use std::time::Instant;

use serde_json::{Value, json};

use crate::{
    MASTER, SERVER, WORKER, api, node, openshift, oracles,
    registry::{self, Image},
    served::{ARGUMENT, ENCAPSULATED, Payload, file},
    support::{Check, Cluster, eventually, text},
    untold,
};

/// Half a minute to a minute each, and a quarter of one before the first for packages and images.
pub(crate) const IN_TURN: &[Check] = &[
    ("rhcos stand-in: the payload's config and system, and the node is what it was to others", done),
    ("rhcos stand-in: all that is wrong is named at once, and nothing is changed", refused),
    ("rhcos stand-in: a machine-config-daemon that fails for ever goes back", failing),
    ("rhcos stand-in: a machine that is not rebooted by the daemon is rebooted all the same", no_reboot),
    ("rhcos stand-in: a new system whose kubelet does not start goes back to the pinned one", no_kubelet),
];

/// How the stand-in for the daemon misbehaves.
const MODE: &str = "/etc/stand-in/daemon";

/// A node with the old config, a server with this payload; begins, and returns what was served.
fn start(cluster: &Cluster, payload: &Payload) -> Value {
    let served = payload.served(cluster);
    api::serve_ignition(cluster, Some(&served));
    begin(cluster, api::TOKEN);
    served
}

fn begin(cluster: &Cluster, token: &str) {
    let keys = node::KEYS;
    api::ignition_secret(cluster, keys, token);
    cluster.sh(MASTER, &format!("blackstart reprovision start {WORKER} --secret {keys}"));
}

/// The next attempt begins at once.
fn forget(cluster: &Cluster) {
    cluster.try_kubectl(&["delete", "nodeupgrade", WORKER, "--timeout=60s"]);
    cluster.try_kubectl(&["delete", "secret", "-n", "ipb-system", "ipb-worker-01"]);
}

fn afresh(cluster: &Cluster) {
    forget(cluster);
    openshift::afresh(cluster);
}

/// The two lines of the payload's own unit, as far as they are not for a first boot only.
fn documented(cluster: &Cluster) -> [String; 2] {
    let image = registry::image(cluster, Image::Daemon);
    let line = |name: &str, rights: &str, flags: &str| {
        format!(
            "podman run --rm --replace --name {name} --privileged {rights} -v /:/rootfs --entrypoint machine-config-daemon {image} \
             firstboot-complete-machineconfig {flags}"
        )
    };
    let file = "--machineconfig-file /var/lib/blackstart-reprovision/payload/machine-config.json";
    [
        line("blackstart-reprovision-mcd-nics", "--net=host", "--persist-nics"),
        line("blackstart-reprovision-mcd", "--pid=host --net=host", file),
    ]
}

fn done(cluster: &Cluster) {
    afresh(cluster);
    cluster.kubectl(&["label", "node", WORKER, "disk=fast", "--overwrite"]);
    let (old, new) = (registry::image(cluster, Image::OldSystem), registry::image(cluster, Image::NewSystem));
    let since = cluster.sh(SERVER, "date +%s");
    let (boot, began) = (cluster.lab.boot(WORKER), Instant::now());
    let served = start(cluster, &Payload::new(cluster));
    let status = node::await_end(cluster, "Done", 0);
    eprintln!("label to Done: {:.1} s", began.elapsed().as_secs_f64());
    assert_ne!(cluster.lab.boot(WORKER), boot, "the machine was rebooted");
    let digest = |image: &str| image.split_once("@sha256:").unwrap().1[..12].to_owned();
    assert_eq!(status["to"], format!("rendered-worker-new on {}", digest(&new)));
    assert_eq!(status["from"], format!("rendered-worker-old on stand-in-old ({})", digest(&old)));

    assert_eq!(openshift::deployments(cluster), [(new.clone(), "b".to_owned()), (old, String::new())]);
    let listed = cluster.sh(WORKER, "ostree admin status");
    assert!(listed.contains("stand-in-new") && !listed.contains("Pinned"), "{listed}");
    let first =
        cluster.sh(WORKER, "cat /ostree/deploy/rhcos/deploy/$(cat /sysroot/stand-in-booted)/usr/lib/os-release");
    assert!(first.contains("stand-in new"), "{first}");
    assert!(cluster.sh(WORKER, "cat /proc/cmdline").contains(ARGUMENT));
    assert_eq!(cluster.sh(WORKER, "systemctl is-active stand-in-new.service"), "active");

    let left = "ls /etc/stand-in/old.conf /etc/systemd/system/stand-in-old.service \
                /etc/systemd/system/multi-user.target.wants/stand-in-old.service 2> /dev/null";
    assert_eq!(cluster.try_sh(WORKER, left).out, "", "what only the old config had is gone");
    let armed = format!(
        "ls {ENCAPSULATED}* 2> /dev/null; journalctl -q --no-pager -u machine-config-daemon-firstboot.service | grep Start"
    );
    assert_eq!(cluster.try_sh(WORKER, &armed).out, "", "what arms a system was never there");

    assert_eq!(openshift::calls(cluster), documented(cluster));
    let manifest = |image: &str| {
        let (repository, digest) = image.split_once('/').unwrap().1.split_once('@').unwrap();
        format!("/v2/{repository}/manifests/{digest}")
    };
    let both = [new, registry::image(cluster, Image::Daemon)].map(|image| manifest(&image));
    assert_eq!(registry::heads(cluster, &since), both, "the registry was asked for these before");
    let fetched: Vec<String> = api::calls(cluster).into_iter().filter(|call| call.starts_with("GET")).collect();
    assert_eq!(fetched, ["GET /ignition 200"], "fetched once");

    oracles::ignition_agrees(cluster, &served);
    oracles::crd_takes(cluster);

    node::assert_given_back(cluster);
    assert_eq!(node::node(cluster)["metadata"]["labels"]["disk"], "fast");
    eventually("the Secret is gone when it is no longer needed", || {
        cluster.try_kubectl(&["get", "secret", "-n", "ipb-system", "ipb-worker-01"]).err.contains("NotFound")
    });
    let told = api::progress(cluster);
    let phases: Vec<&str> = told.iter().filter_map(|event| event["data"]["phase"].as_str()).collect();
    assert_eq!(phases.last(), Some(&"Done"), "{phases:?}");
    untold::assert_untold(cluster);
}

fn refused(cluster: &Cluster) {
    afresh(cluster);
    let payload = Payload::new(cluster);
    let served = payload.served(cluster);

    // Another CA, and a machine that somebody else has armed.
    cluster.sh(WORKER, &format!("echo '{{}}' > {ENCAPSULATED}"));
    let before = openshift::fingerprint(cluster);
    api::serve_ignition(cluster, Some(&served));
    api::ignition_secret(cluster, node::KEYS, api::TOKEN);
    let other = cluster.sh(MASTER, "cat /etc/kubernetes/pki/ca.crt");
    api::write(cluster, MASTER, &format!("{}/ca.crt", node::KEYS), other.as_bytes());
    cluster.sh(MASTER, &format!("blackstart reprovision start {WORKER} --secret {}", node::KEYS));
    assert_refused(cluster, &["BS-IPB-032", "BS-IPB-045"], &before);
    cluster.sh(WORKER, &format!("rm {ENCAPSULATED}"));

    // A token that was rotated away, and a deployment that waits for a reboot.
    cluster.sh(WORKER, &format!("rpm-ostree rebase {}", registry::image(cluster, Image::NewSystem)));
    let before = openshift::fingerprint(cluster);
    begin(cluster, "rotated-away");
    assert_refused(cluster, &["BS-IPB-031", "BS-IPB-043"], &before);
    cluster.sh(WORKER, "rpm-ostree cleanup -p");

    // A payload that is built while the node waits; of an image that the registry does not have, and of what needs a new disk.
    let before = openshift::fingerprint(cluster);
    let nowhere = format!("{}/ocp/os@sha256:{}", registry::at(cluster), "7".repeat(64));
    let directories = vec![json!({"path": "/etc/stand-in/directory"})];
    let damaged = Payload { os: nowhere, directories, ..payload };
    api::serve_ignition(cluster, None);
    begin(cluster, api::TOKEN);
    let mut calls = Vec::new();
    eventually("the server was asked for what it has not built", || {
        calls.extend(api::calls(cluster));
        calls.iter().any(|call| call == "GET /ignition 511")
    });
    api::serve_ignition(cluster, Some(&damaged.served(cluster)));
    assert_refused(cluster, &["BS-IPB-041", "BS-IPB-048"], &before);
}

/// With all of these at once; and the machine is what it was.
#[track_caller]
fn assert_refused(cluster: &Cluster, codes: &[&str], before: &str) {
    let status = node::await_end(cluster, "Refused", 0);
    let message = text(&status["failure"]["message"]);
    for code in codes {
        assert!(message.contains(code), "{code}: {message}");
    }
    node::assert_given_back(cluster);
    assert_eq!(openshift::fingerprint(cluster), before);
    untold::assert_untold(cluster);
    forget(cluster);
}

fn failing(cluster: &Cluster) {
    afresh(cluster);
    let (boot, before) = (cluster.lab.boot(WORKER), openshift::fingerprint(cluster));
    let mut payload = Payload::new(cluster);
    payload.files.push(file(MODE, "fails", 0o644));
    start(cluster, &payload);
    let status = node::await_end(cluster, "RolledBack", 0);
    assert_eq!(status["failure"]["code"], "BS-IPB-052", "{status:#}");
    let message = text(&status["failure"]["message"]);
    assert!(message.contains("told to fail"), "its last words: {message}");
    assert!(openshift::calls(cluster).len() > 3, "it was let try again");
    assert_gone_back(cluster, &boot, &before);
}

/// The same machine in a new boot.
#[track_caller]
fn assert_gone_back(cluster: &Cluster, boot: &str, before: &str) {
    assert_ne!(cluster.lab.boot(WORKER), boot, "services have read the files that came back");
    node::assert_given_back(cluster);
    assert_eq!(openshift::fingerprint(cluster), before);
    assert_eq!(cluster.sh(WORKER, "systemctl is-active stand-in-old.service"), "active");
    untold::assert_untold(cluster);
}

fn no_reboot(cluster: &Cluster) {
    afresh(cluster);
    let boot = cluster.lab.boot(WORKER);
    let mut payload = Payload::new(cluster);
    payload.files.push(file(MODE, "no reboot", 0o644));
    start(cluster, &payload);
    node::await_end(cluster, "Done", 0);
    assert_ne!(cluster.lab.boot(WORKER), boot);
    let booted = openshift::deployments(cluster).swap_remove(0);
    assert_eq!(booted, (registry::image(cluster, Image::NewSystem), "b".to_owned()));
    assert_eq!(openshift::calls(cluster), documented(cluster), "stopped before it tried again");
    node::assert_given_back(cluster);
}

fn no_kubelet(cluster: &Cluster) {
    afresh(cluster);
    let (boot, before) = (cluster.lab.boot(WORKER), openshift::fingerprint(cluster));
    let object = "{\"apiVersion\":\"blackstart.io/v1alpha1\",\"kind\":\"NodeUpgrade\",\"metadata\":{\"name\":\"worker-01\"},\
                  \"spec\":{\"deadlines\":{\"return\":20}}}";
    cluster.apply(object);
    let mut payload = Payload::new(cluster);
    "[Service]\nExecStart=\nExecStart=/bin/false\n".clone_into(&mut payload.kubelet);
    start(cluster, &payload);
    node::await_end(cluster, "RolledBack", 0);
    let new = registry::image(cluster, Image::NewSystem);
    assert!(openshift::deployments(cluster).iter().any(|(image, _)| *image == new), "it had been booted");
    assert_gone_back(cluster, &boot, &before);
}
