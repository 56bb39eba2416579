//! What a service step plans and reports, for everything that can be seen of a service. No machine is needed.

use std::{fs, os::unix::fs::symlink};

use engine::{About, Step, StepId, Verdict};
use host::{Change, Content, Host};
use render::CONFIG_VARIABLE;

use super::{Configuration, Health, Probe, Seen, Service};
use nodekit::systemd::Unit;

fn service() -> Service {
    let rendered = render::units::agent();
    Service::new(About::new(StepId::new("x"), "Start x", "it is needed"), rendered, Probe::Port(1))
}

fn unit(active: &str, sub: &str, pid: Option<u32>, restarts: u32) -> Unit {
    Unit { active: active.into(), sub: sub.into(), pid, restarts, ..Unit::default() }
}

fn seen(unit: Unit, configuration: Configuration, health: Health) -> Seen {
    Seen { missing: Vec::new(), is_live: true, unit, configuration, health, last_log_line: String::new() }
}

fn not_yet() -> Health {
    Health::NotYet { what: "port 1 to accept connections".into(), progress: String::new() }
}

#[test]
fn everything_that_can_be_seen_has_an_answer() {
    let running = || unit("active", "running", Some(7), 0);
    let file = Change::File { path: "/etc/x.yaml".into(), mode: 0o644, content: Content::Plain(b"x".to_vec()) };
    let mut text = String::new();
    for (case, seen) in [
        ("an image", Seen { is_live: false, ..seen(unit("", "", None, 0), Configuration::Unknown, Health::Unknown) }),
        ("never started", seen(unit("inactive", "dead", None, 0), Configuration::Unknown, Health::Unknown)),
        ("failed", seen(unit("failed", "failed", None, 5), Configuration::Unknown, Health::Unknown)),
        ("about to start", seen(unit("activating", "start-pre", None, 0), Configuration::Unknown, Health::Unknown)),
        ("not yet its own program", seen(running(), Configuration::Unknown, Health::Unknown)),
        ("with an older configuration", seen(running(), Configuration::Other, Health::Unknown)),
        (
            "with a file that is missing",
            Seen { missing: vec![file], ..seen(running(), Configuration::Current, Health::Good) },
        ),
        ("up and not healthy yet", seen(running(), Configuration::Current, not_yet())),
        (
            "in a crash loop",
            Seen {
                last_log_line: "Error: no such flag".into(),
                ..seen(unit("activating", "auto-restart", None, 3), Configuration::Unknown, Health::Unknown)
            },
        ),
        ("healthy", seen(running(), Configuration::Current, Health::Good)),
    ] {
        let plan: Vec<String> = service().plan(&seen).unwrap().iter().map(ToString::to_string).collect();
        let verdict = match service().verify(&seen) {
            Verdict::Met => "met".to_owned(),
            Verdict::Waiting { what, .. } => format!("waiting for {what}"),
        };
        text += &format!("{case}:\n  plan: {}\n  {verdict}\n", plan.join("; "));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_crash_loop_is_no_progress() {
    let after = |restarts| {
        let unit = unit("activating", "auto-restart", None, restarts);
        match service().verify(&seen(unit, Configuration::Unknown, Health::Unknown)) {
            Verdict::Waiting { progress, .. } => progress,
            Verdict::Met => panic!("a service that does not run is not met"),
        }
    };
    assert_eq!(after(1), after(2));
}

#[test]
fn what_a_process_was_started_with() {
    let wanted = format!("{CONFIG_VARIABLE}={}", service().rendered.config_hash);
    for (case, program, environment, expected) in [
        ("a copy of systemd", "/usr/lib/systemd/systemd", "TERM=linux\0".to_owned(), Configuration::Unknown),
        (
            "its program, its environment not there yet",
            "/usr/local/bin/blackstart",
            String::new(),
            Configuration::Unknown,
        ),
        ("its program", "/usr/local/bin/blackstart", format!("PATH=/bin\0{wanted}\0"), Configuration::Current),
        ("an older one", "/usr/local/bin/blackstart", format!("PATH=/bin\0{wanted}0\0"), Configuration::Other),
    ] {
        let root = tempfile::tempdir().unwrap();
        let process = root.path().join("proc/7");
        fs::create_dir_all(&process).unwrap();
        symlink(program, process.join("exe")).unwrap();
        fs::write(process.join("environ"), environment).unwrap();
        let found = service().configuration(&Host::rooted(root.path()), &unit("active", "running", Some(7), 0));
        assert_eq!(found.unwrap(), expected, "{case}");
    }
}
