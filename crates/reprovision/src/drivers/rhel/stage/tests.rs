//! Stages as a machine sees them: what is noted, what is run, what the way back does.

use std::sync::Mutex;

use super::{
    super::testing::{Machine, failed, run, with},
    *,
};

const FILES: &str = "/var/lib/blackstart-reprovision/payload/files";

/// Ends as it is asked, and keeps what it was asked, with the token as the script would read it.
struct Scripted {
    ends: Mutex<Vec<Ended>>,
    asked: Mutex<Vec<String>>,
}

impl Scripted {
    fn new(mut ends: Vec<Ended>) -> Arc<Self> {
        ends.reverse();
        Arc::new(Self { ends: Mutex::new(ends), asked: Mutex::default() })
    }
}

impl Scripts for Scripted {
    fn run<'a>(
        &'a self,
        script: &'a Script,
        secrets: &'a [String],
        host: &'a Host,
    ) -> super::super::script::Ending<'a> {
        let token = host.disk.read_optional(&payload::token()).unwrap().map(|token| String::from_utf8(token).unwrap());
        let env = script.env.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ");
        let asked = format!(
            "{} in {} within {} s\n  {env}\n  token {token:?}, hides {secrets:?}",
            script.command.join(" "),
            script.dir.display(),
            script.within.as_secs()
        );
        self.asked.lock().unwrap().push(asked);
        let end = self.ends.lock().unwrap().pop().unwrap_or(Ended::Well);
        Box::pin(async move { end })
    }
}

fn stage(which: Which, run: &Run, scripts: &Arc<Scripted>) -> Stage {
    Stage { which, run: run.clone(), scripts: scripts.clone() }
}

/// One with a payload of this run, whose newest transaction is in a file.
fn machine(id: &str) -> Machine {
    let machine = Machine::default();
    machine.write(&format!("{FILES}/bootstrap.sh"), "#!/bin/bash\n");
    let note = format!(r#"{{"run": "{id}", "sha256": "00", "kind": "script", "fetched": "2026-11-19T02:00:00Z"}}"#);
    machine.write("/var/lib/blackstart-reprovision/payload/payload.json", note);
    machine.write("/newest", "41");
    machine.write("/status", "Success");
    let (newest, status) = (machine.path("/newest"), machine.path("/status"));
    machine.answering(move |command| {
        let read = |path| std::fs::read_to_string(path).unwrap();
        Ok(match command {
            list if list.ends_with("history list") => format!("  {} | upgrade | 2026 | U | 1\n", read(&newest)),
            info if info.contains("history info") => format!("Return-Code    : {}\n", read(&status)),
            back if back.contains(" history rollback ") => {
                std::fs::write(&newest, "44").unwrap();
                String::new()
            }
            _ => String::new(),
        })
    })
}

fn badly(status: &str, was_killed: bool) -> Ended {
    Ended::Badly { status: status.to_owned(), was_killed, last: "Error: no".to_owned() }
}

#[tokio::test]
async fn a_stage_is_run_until_it_has_ended_well_and_then_never_again() {
    let (machine, run) = (machine("a"), run("a"));
    let scripts = Scripted::new(vec![badly("signal: 9 (SIGKILL)", true)]);
    let first = stage(Which::First, &run, &scripts);
    let error = machine.apply(&first).await.unwrap_err();
    assert!(error.is_retryable() && failed(&error).starts_with("BS-IPB-076"), "{error}");
    // Power was lost in the middle of a transaction of the script.
    machine.write("/newest", "42");
    machine.write("/status", "Failure: 1");
    machine.asked();
    assert_eq!(machine.apply(&first).await.unwrap(), ["run stage 1 of the payload"]);
    assert!(machine.asked().iter().any(|command| command.ends_with("--assumeyes history redo 42")));
    machine.write("/status", "Success");
    assert!(machine.apply(&first).await.unwrap().is_empty());
    // The reboot, into another kernel.
    machine.write("/proc/sys/kernel/osrelease", "5.14.0-503.el9.x86_64\n");
    let second = stage(Which::Second, &run, &scripts);
    assert_eq!(machine.apply(&second).await.unwrap(), ["run stage 2 of the payload"]);
    let asked = scripts.asked.lock().unwrap().join("\n");
    let noted = machine.read("/var/lib/blackstart-reprovision/rhel.json").unwrap();
    insta::assert_snapshot!(format!("{asked}\n{noted}"));
    assert!(!machine.path("/run/blackstart-reprovision/bootstrap-token").exists());
    let other = stage(Which::First, &super::super::testing::run("b"), &scripts);
    assert!(failed(&machine.apply(&other).await.unwrap_err()).starts_with("BS-IPB-068"));
}

#[tokio::test]
async fn each_bad_end_says_what_was_seen() {
    let mut reported = String::new();
    for end in [
        badly("exit status: 2", false),
        badly(TEMPORARILY, false),
        badly("signal: 9 (SIGKILL)", true),
        Ended::Late { last: "TASK [cis : audit]".to_owned() },
        Ended::NotStarted("No such file or directory".to_owned()),
    ] {
        let machine = machine("a");
        let error = machine.apply(&stage(Which::Second, &run("a"), &Scripted::new(vec![end]))).await.unwrap_err();
        let retry = if error.is_retryable() { ", tried again" } else { "" };
        reported += &format!("{}{retry}\n", failed(&error));
        let record = Record::read(&*machine.host().disk).unwrap().unwrap();
        assert!(!record.stage2.unwrap().ended && !machine.path("/run/blackstart-reprovision/bootstrap-token").exists());
    }
    insta::assert_snapshot!(reported);
}

#[tokio::test]
async fn a_token_that_is_gone_is_not_offered_and_ansible_is_run_by_name() {
    let machine = machine("a");
    std::fs::rename(machine.path(&format!("{FILES}/bootstrap.sh")), machine.path(&format!("{FILES}/playbook.yml")))
        .unwrap();
    let scripts = Scripted::new(Vec::new());
    machine.apply(&stage(Which::Second, &with("a", &[("bootstrap-token", "")]), &scripts)).await.unwrap();
    let asked = scripts.asked.lock().unwrap().join("\n");
    assert!(asked.starts_with("ansible-playbook -i localhost, -c local playbook.yml in "), "{asked}");
    assert!(asked.contains("token None") && !asked.contains("BOOTSTRAP_TOKEN_FILE"), "{asked}");
}

#[tokio::test]
async fn both_stages_are_undone_at_once_and_once() {
    let (machine, run) = (machine("a"), run("a"));
    let scripts = Scripted::new(Vec::new());
    machine.apply(&stage(Which::First, &run, &scripts)).await.unwrap();
    machine.write("/newest", "42");
    machine.apply(&stage(Which::Second, &run, &scripts)).await.unwrap();
    machine.write("/newest", "43");
    machine.write("/boot/vmlinuz-5.14.0-427.el9.x86_64", "");
    machine.asked();
    let host = machine.host();
    let before = Record::read(&*host.disk).unwrap().unwrap().before().cloned();
    let mut reported = String::new();
    for which in [Which::Second, Which::First, Which::First] {
        let undo = Undone { which, before: before.clone() };
        reported += &format!("{}: {}\n", which.id(), undo.shows_act("run").unwrap());
        undo.act("run", &host).await.unwrap();
        reported += &machine.asked().iter().map(|command| format!("  {command}\n")).collect::<String>();
        reported +=
            &undo.before(&host).await.unwrap().iter().map(|note| format!("  note: {note}\n")).collect::<String>();
    }
    insta::assert_snapshot!(reported);
    assert!(!stage(Which::First, &run, &scripts).observe(&host).await.unwrap());
}

#[tokio::test]
async fn nothing_is_undone_where_nothing_was_begun() {
    let machine = Machine::default();
    Undone { which: Which::First, before: None }.act("run", &machine.host()).await.unwrap();
    assert!(machine.asked().is_empty());
}
