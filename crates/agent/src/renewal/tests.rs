use std::{path::Path, sync::Arc};

use host::{Content, FixedClock};
use jiff::{SignedDuration, Timestamp};
use join::Pair;

use super::{
    worker::{Held, ask_for_own},
    *,
};
use crate::testing::{Scripted, agent};

fn shown() -> String {
    crate::systemd::show(&[
        "kube-controller-manager.service",
        "kube-scheduler.service",
        "kube-proxy.service",
        "kubelet.service",
    ])
    .to_string()
}

/// A master whose certificates were made some days ago.
fn master(commands: &Arc<Scripted>, days: i64) -> Agent {
    let mut agent = agent("master-01", commands);
    let now = Timestamp::now();
    let input = Input::new(&agent.cluster, &agent.node, Shared::Make);
    let existing = Existing::read(&*agent.host.disk, &agent.paths.kubernetes_dir).unwrap();
    for change in pki::plan(&existing, &input, now).unwrap() {
        change.apply(&*agent.host.disk).unwrap();
    }
    agent.host.clock = Arc::new(FixedClock(now + SignedDuration::from_hours(24 * days)));
    agent
}

fn running_since(commands: &Scripted, second: i64) {
    let since = Timestamp::from_second(second).unwrap().strftime("%a %Y-%m-%d %H:%M:%S.000000 UTC");
    let units = restart::READ_ONCE
        .iter()
        .map(|(_, unit)| format!("ExecMainStartTimestamp={since}\nId={unit}\nLoadState=loaded\nActiveState=active\n"));
    commands.answer(&shown(), &units.collect::<Vec<_>>().join("\n"));
}

fn written_at(commands: &Scripted, second: i64) {
    for (file, unit) in restart::READ_ONCE {
        commands.answer(&format!("stat --format=%.6Z /etc/kubernetes/{file}"), &format!("{second}.000000\n"));
        commands.answer(&format!("systemctl restart {unit}"), "");
    }
}

fn restarts(commands: &Scripted) -> Vec<String> {
    commands.ran().into_iter().filter(|command| command.starts_with("systemctl restart")).collect()
}

fn scheduler(agent: &Agent) -> Vec<u8> {
    agent.host.disk.read(Path::new("/etc/kubernetes/scheduler.conf")).unwrap()
}

#[tokio::test]
async fn young_certificates_are_left_alone() {
    let commands = Arc::new(Scripted::default());
    let agent = master(&commands, 200);
    let before = scheduler(&agent);
    running_since(&commands, 100);
    written_at(&commands, 99);
    check(&agent).await.unwrap();
    assert_eq!(scheduler(&agent), before);
    assert_eq!(restarts(&commands), Vec::<String>::new());
}

#[tokio::test]
async fn old_ones_are_renewed_and_their_readers_restarted() {
    let commands = Arc::new(Scripted::default());
    let agent = master(&commands, 250);
    let before = scheduler(&agent);
    let ca = agent.host.disk.read(Path::new("/etc/kubernetes/pki/ca.crt")).unwrap();
    running_since(&commands, 100);
    written_at(&commands, 101);
    check(&agent).await.unwrap();
    assert_ne!(scheduler(&agent), before);
    assert_eq!(agent.host.disk.read(Path::new("/etc/kubernetes/pki/ca.crt")).unwrap(), ca);
    let expected = ["kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet"]
        .map(|unit| format!("systemctl restart {unit}.service"));
    assert_eq!(restarts(&commands), expected);
}

#[tokio::test]
async fn a_restart_that_a_crash_prevented_is_made_up_for() {
    let commands = Arc::new(Scripted::default());
    let agent = master(&commands, 0);
    running_since(&commands, 100);
    written_at(&commands, 101);
    check(&agent).await.unwrap();
    assert_eq!(restarts(&commands).len(), 4);
}

#[tokio::test]
async fn a_machine_without_certificates_is_not_our_business() {
    let commands = Arc::new(Scripted::default());
    let agent = agent("master-01", &commands);
    running_since(&commands, 100);
    check(&agent).await.unwrap();
    assert_eq!(commands.ran(), [shown()]);
}

#[test]
fn nodes_are_spread() {
    assert_ne!(spread("worker-01"), spread("worker-02"));
    assert_eq!(spread("worker-01"), spread("worker-01"));
}

/// The two kubeconfigs of a worker that joined some days ago.
fn joined(commands: &Arc<Scripted>, days: i64) -> Agent {
    let mut agent = agent("worker-01", commands);
    let mut params = rcgen::CertificateParams::default();
    let now = Timestamp::now();
    params.not_before = std::time::SystemTime::from(now).into();
    params.not_after = std::time::SystemTime::from(now + SignedDuration::from_hours(24 * 365)).into();
    let key = rcgen::KeyPair::generate().unwrap();
    let (certificate, key) = (params.self_signed(&key).unwrap().pem(), key.serialize_pem());
    let ca = b"old ca";
    for name in ["kube-proxy.conf", "agent.conf"] {
        let proof = pki::Proof::Inside { certificate_pem: &certificate, key_pem: &key };
        let text = pki::kubeconfig("demo", name, "https://127.0.0.1:7443", ca, proof);
        let path = agent.paths.kubernetes_dir.join(name);
        Change::File { path, mode: 0o600, content: Content::Secret(text.into()) }.apply(&*agent.host.disk).unwrap();
    }
    agent.host.clock = Arc::new(FixedClock(now + SignedDuration::from_hours(24 * days)));
    agent
}

#[tokio::test]
async fn a_worker_asks_for_nothing_before_it_is_time() {
    let commands = Arc::new(Scripted::default());
    ask_for_own(&agent("worker-01", &commands)).await.unwrap();
    ask_for_own(&joined(&commands, 200)).await.unwrap();
    let held = Held::read(&joined(&commands, 250), "agent.conf").unwrap().unwrap();
    assert!(held.is_due(Timestamp::now() + SignedDuration::from_hours(24 * 250)).unwrap());
}

#[test]
fn a_new_certificate_takes_the_place_of_the_old_one() {
    let agent = joined(&Arc::new(Scripted::default()), 0);
    let held = Held::read(&agent, "kube-proxy.conf").unwrap().unwrap();
    let change =
        held.with("new ca", &Pair { cert_pem: "new certificate".into(), key_pem: "new key".to_owned().into() });
    assert!(matches!(&change, Change::File { mode: 0o600, content: Content::Secret(_), .. }), "{change}");
    change.apply(&*agent.host.disk).unwrap();
    let renewed = Held::read(&agent, "kube-proxy.conf").unwrap().unwrap().identity;
    assert_eq!([renewed.ca, renewed.certificate, renewed.key], ["new ca", "new certificate", "new key"]);
}

#[tokio::test]
async fn nothing_is_renewed_beside_a_run_that_may_write_the_same_files() {
    let commands = Arc::new(Scripted::default());
    let agent = master(&commands, 300);
    let before = scheduler(&agent);
    let run = engine::lock_machine(&agent.host, &agent.paths.state_dir, "pki renew").unwrap();
    assert_eq!(renew_own(&agent).unwrap(), Checked::BesideRun);
    assert_eq!(scheduler(&agent), before);
    drop(run);
    assert_eq!(renew_own(&agent).unwrap(), Checked::All);
    assert_ne!(scheduler(&agent), before);
}
