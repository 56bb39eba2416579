//! Every command as a person or a script would call it: the real program, its output, its exit code.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a helper that fails is a test that fails")]

mod ignition;
mod support;

use std::{
    fs,
    io::{self, Read, Write},
    path::Path,
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use ::blackstart::cli::Cli;
use clap::CommandFactory;
use support::{Trial, blackstart, example};

#[test]
fn check_says_what_is_valid() {
    insta::assert_snapshot!(blackstart(["check", &example("home")]));
}

#[test]
fn check_prints_all_problems_and_fails() {
    let trial = Trial::with_cluster("cluster: { name: Home }\nnodes:\n  - { name: a, ip: 10.0.0.1, role: [worker] }\n");
    insta::assert_snapshot!("check-problems", trial.run(["check"]));
    insta::assert_snapshot!("check-problems-json", trial.run(["check", "-o", "json"]));
    insta::assert_snapshot!("plan-problems-json", trial.run(["plan", "--node", "a", "-o", "json"]));
}

#[test]
fn check_without_a_configuration_says_where_it_looked() {
    let trial = Trial::empty();
    insta::assert_snapshot!(trial.run(["check"]));
}

#[test]
fn plan_shows_each_role_and_changes_nothing() {
    for node in ["master-01", "worker-01"] {
        let trial = Trial::empty();
        let before = trial.tree();
        insta::assert_snapshot!(format!("plan-{node}"), trial.run(["plan", &example("home"), "--node", node]));
        insta::assert_snapshot!(
            format!("plan-{node}-verbose"),
            trial.run(["plan", &example("home"), "--node", node, "--verbose"])
        );
        insta::assert_snapshot!(
            format!("plan-{node}-json"),
            trial.run(["plan", &example("home"), "--node", node, "-o", "json"])
        );
        assert_eq!(trial.tree(), before);
    }
}

#[test]
fn plan_for_an_unknown_node() {
    insta::assert_snapshot!(Trial::empty().run(["plan", &example("home"), "--node", "master-1"]));
}

#[test]
fn detect_finds_the_node_by_any_interface() {
    let trial = Trial::with_example("home");
    trial.interface("eth0", "02:00:00:00:00:99");
    trial.interface("eth1", "52:54:00:00:00:21");
    insta::assert_snapshot!(trial.run(["node", "detect"]));
    assert_eq!(trial.read("etc/cluster-config/node-identity"), "worker-01\n");
    insta::assert_snapshot!(trial.run(["node", "detect"]));
    insta::assert_snapshot!(trial.run(["node", "role"]));
}

#[test]
fn detect_refuses_to_guess() {
    let trial = Trial::with_example("home");
    trial.interface("eth0", "02:00:00:00:00:99");
    insta::assert_snapshot!(trial.run(["node", "detect"]));
    trial.interface("eth1", "52:54:00:00:00:21");
    trial.interface("eth2", "52:54:00:00:00:22");
    insta::assert_snapshot!(trial.run(["node", "detect"]));
    assert!(!trial.path("etc/cluster-config/node-identity").exists());
    insta::assert_snapshot!(trial.run(["node", "detect", "--node", "worker-02"]));
}

/// A trial reads a relative directory where it was called and writes nothing outside its root.
#[test]
fn detect_leaves_a_relative_source_as_it_is() {
    let trial = Trial::empty();
    let output = trial.run(["node", "detect", "--config-dir", "../../examples/home", "--node", "master-01"]);
    assert!(output.starts_with("exit 0"), "{output}");
    assert_eq!(trial.read("etc/cluster-config/node-identity"), "master-01\n");
    assert!(!Path::new(&example("home")).join("node-identity").exists());
}

#[test]
fn detect_reports_events_to_scripts() {
    let trial = Trial::with_example("home");
    insta::assert_snapshot!(trial.run(["node", "detect", "--node", "master-01", "-o", "json"]));
}

#[test]
fn roles_are_those_of_the_bootstrap() {
    let trial = Trial::with_example("ha-ceph");
    for node in ["master-01", "master-02", "worker-01"] {
        let role = trial.run(["node", "role", "--node", node]);
        let expected = match node {
            "master-01" => "master-first",
            "master-02" => "master-additional",
            _ => "worker",
        };
        assert!(role.contains(&format!("stdout\n{expected}\n")), "{role}");
    }
}

#[test]
fn certificates_are_made_shown_and_renewed() {
    let trial = Trial::with_example("home");
    insta::assert_snapshot!("pki-show-nothing", trial.run(["pki", "show"]));
    insta::assert_snapshot!("pki-init", trial.run(["pki", "init", "--node", "master-01"]));
    insta::assert_snapshot!("pki-show", trial.run(["pki", "show"]));
    insta::assert_snapshot!("pki-renew-nothing-due", trial.run(["pki", "renew", "--node", "master-01"]));

    let certificate = || trial.read("etc/kubernetes/pki/apiserver.crt");
    let before = certificate();
    insta::assert_snapshot!(
        "pki-renew-dry",
        trial.run(["pki", "renew", "apiserver", "--node", "master-01", "--dry-run"])
    );
    insta::assert_snapshot!("pki-renew-unasked", trial.run(["pki", "renew", "apiserver", "--node", "master-01"]));
    assert_eq!(certificate(), before);
    insta::assert_snapshot!("pki-renew", trial.run(["pki", "renew", "apiserver", "--node", "master-01", "--yes"]));
    assert_ne!(certificate(), before);
    insta::assert_snapshot!("pki-renew-unknown", trial.run(["pki", "renew", "apisever", "--node", "master-01"]));
    insta::assert_snapshot!("pki-renew-ca", trial.run(["pki", "renew", "ca", "--node", "master-01"]));
    insta::assert_snapshot!("pki-init-worker", trial.run(["pki", "init", "--node", "worker-01"]));
}

#[test]
fn a_broken_ca_is_an_error_that_names_the_file() {
    let trial = Trial::with_example("home");
    trial.run(["pki", "init", "--node", "master-01"]);
    fs::write(trial.path("etc/kubernetes/pki/ca.key"), "garbage").unwrap();
    insta::assert_snapshot!(trial.run(["pki", "init", "--node", "master-01"]));
}

#[test]
fn codes_are_explained() {
    insta::assert_snapshot!(blackstart(["explain", "bs-ledger-001"]));
    insta::assert_snapshot!(blackstart(["explain", "BS-LEDGER-01"]));
}

#[test]
fn completions_and_man_pages_are_generated() {
    for shell in ["bash", "zsh", "fish"] {
        let script = blackstart(["completions", shell]);
        assert!(script.starts_with("exit 0") && script.contains("BLACKSTART_COMPLETE"), "{shell}");
    }
    let trial = Trial::empty();
    let dir = trial.path("man1");
    let output = blackstart(["man", dir.to_str().unwrap()]);
    assert!(output.starts_with("exit 0"), "{output}");
    let page = fs::read_to_string(dir.join("blackstart-pki-renew.1")).unwrap();
    assert!(page.contains("blackstart pki renew apiserver"), "{page}");
}

#[test]
fn a_shell_is_offered_what_there_is() {
    let offered = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_blackstart"))
            .args(["--", "blackstart"])
            .args(words)
            .env("BLACKSTART_COMPLETE", "fish")
            .output()
            .unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let home = example("home");
    let nodes = ["master-01", "worker-01", "worker-02"];
    for (words, expected) in [
        (vec!["pki", "ren"], vec!["renew"]),
        (vec!["explain", "BS-GATHER"], vec!["BS-GATHER-001", "BS-GATHER-002", "BS-GATHER-003"]),
        (vec!["node", "remove", "--config-dir", &home, ""], nodes.to_vec()),
        (vec!["plan", "--config-dir", &home, "--node", "work"], nodes[1..].to_vec()),
        (vec!["lab", "exec", "--name", "nolab", ""], vec![]),
    ] {
        let found: Vec<String> = offered(&words).into_iter().filter(|word| !word.starts_with('-')).collect();
        assert_eq!(found, expected, "{words:?}");
    }
}

#[test]
fn wrong_usage_has_its_own_exit_code() {
    for arguments in
        [vec![], vec!["chekc"], vec!["check", "--nope"], vec!["schema", "pod"], vec!["explain", "BS-NOPE-1"]]
    {
        let output = blackstart(arguments.clone());
        assert!(output.starts_with("exit 2"), "{arguments:?}: {output}");
    }
}

/// The reader of the events is slow, so that the run stands still in the middle until the signal was sent.
#[test]
fn a_signal_stops_a_run_between_two_changes_and_the_next_run_completes_it() {
    for signal in ["INT", "TERM"] {
        let trial = Trial::with_example("home");
        let (mut reader, mut writer) = io::pipe().unwrap();
        writer.write_all("\n".repeat(15 * 4096).as_bytes()).unwrap(); // a pipe holds 16 pages
        let mut child = Command::new(env!("CARGO_BIN_EXE_blackstart"))
            .args(["pki", "init", "--node", "master-01", "-o", "json", "--root"])
            .arg(trial.path(""))
            .stdout(writer)
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while !trial.path("var/lib/cluster-state/ledger.json").exists() {
            assert!(begun.elapsed() < Duration::from_mins(1), "the run does not begin");
            sleep(Duration::from_millis(5));
        }
        let kill = format!("kill -{signal} {}", child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());

        let mut events = String::new();
        reader.read_to_string(&mut events).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}: {events}");
        let states: Vec<&str> =
            events.split("\"state\":\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(states[states.len() - 2..], ["cancelled", "run-finished"], "{signal}");
        assert!(!trial.path("etc/kubernetes/kubelet.conf").exists(), "{signal}: it ran to its end");
        let next = trial.run(["pki", "init", "--node", "master-01"]);
        assert!(next.starts_with("exit 0") && trial.path("etc/kubernetes/kubelet.conf").exists(), "{next}");
    }
}

/// A reader that has seen enough is no error and no panic.
#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_blackstart"))
        .args(["schema"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
}

/// The words that lead to each command that does something.
fn commands(below: &clap::Command, words: &[String]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for command in below.get_subcommands().filter(|command| !command.is_hide_set()) {
        let words = [words, &[command.get_name().to_owned()]].concat();
        let deeper = commands(command, &words);
        found.extend(if deeper.is_empty() { vec![words] } else { deeper });
    }
    found
}

#[test]
fn help_has_examples_everywhere() {
    let all = commands(&Cli::command(), &[]);
    assert!(all.len() > 10, "{all:?}");
    for command in all {
        let help = blackstart(command.iter().map(String::as_str).chain(["--help"]));
        assert!(help.contains("Example"), "{command:?}: {help}");
    }
    insta::assert_snapshot!("help", blackstart(["--help"]));
}

#[test]
fn sealing_shows_what_to_do_next_and_keeps_what_is_there() {
    let trial = Trial::empty();
    let out = trial.path("sealed").display().to_string();
    let never = ["config", "seal", &example("home"), "--out", &out, "--expires", "never"];
    insta::assert_snapshot!("seal", trial.run(never));
    let sealed = trial.tree();
    insta::assert_snapshot!("seal-again", trial.run(["config", "seal", &example("home"), "--out", &out]));
    assert_eq!(trial.tree(), sealed);
    insta::assert_snapshot!(
        "seal-bad-time",
        trial.run(["config", "seal", &example("home"), "--out", &out, "--expires", "soon"])
    );
    let secret = || fs::read_to_string(trial.path("sealed/worker-01/join-secret")).unwrap();
    let before = secret();
    let output = trial.run(["config", "seal", &example("home"), "--out", &out, "--renew", "worker-01"]);
    assert!(output.contains("the secrets of worker-01 are valid for joining until "), "{output}");
    assert_ne!(secret(), before, "it ends after 30 days, and is newer");
    insta::assert_snapshot!(
        "seal-unknown-node",
        trial.run(["config", "seal", &example("home"), "--out", &out, "--renew", "worker-1"])
    );
}

#[test]
fn a_sealed_directory_is_installed_into_an_image() {
    let trial = Trial::empty();
    let out = trial.path("sealed").display().to_string();
    trial.run(["config", "seal", &example("home"), "--out", &out]);
    let image = Trial::empty();
    let config = format!("{out}/worker-01");
    insta::assert_snapshot!("install", image.run(["node", "install", "--config", &config]));
    insta::assert_snapshot!("install-again", image.run(["node", "install", "--config", &config]));
    let secret = fs::read_to_string(trial.path("sealed/worker-01/join-secret")).unwrap();
    assert_eq!(image.read("etc/cluster-config/join-secret"), secret);
    insta::assert_snapshot!("install-now", image.run(["node", "install", "--now"]));
}

#[test]
fn commands_for_a_machine_that_runs_say_so_elsewhere() {
    let trial = Trial::with_example("home");
    insta::assert_snapshot!("up-image", trial.run(["node", "up", "--node", "master-01"]));
    insta::assert_snapshot!("remove-image", trial.run(["node", "remove", "worker-01", "--yes"]));
    insta::assert_snapshot!("token-no-master", trial.run(["token", "list"]));
    insta::assert_snapshot!("rearm-worker", trial.run(["node", "rearm", "worker-01"]));
    insta::assert_snapshot!("revoke-unknown-node", trial.run(["config", "revoke", "worker-1", "--yes"]));
    insta::assert_snapshot!("token-bad-time", trial.run(["token", "create", "--ttl", "0h"]));
    insta::assert_snapshot!("token-unknown-node", trial.run(["token", "create", "--node", "worker-1"]));
}

#[test]
fn up_lists_its_steps() {
    let trial = Trial::with_example("home");
    insta::assert_snapshot!("up-list-steps", trial.run(["node", "up", "--node", "worker-01", "--list-steps"]));
}

#[test]
fn preflight_lists_its_checks() {
    insta::assert_snapshot!("preflight-list", Trial::empty().run(["node", "preflight", "--list"]));
    let trial = Trial::with_example("home");
    insta::assert_snapshot!(
        "preflight-unknown-check",
        trial.run(["node", "preflight", "--node", "worker-01", "--skip", "swop"])
    );
}
