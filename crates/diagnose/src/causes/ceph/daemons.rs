//! Ceph's daemons on this node: stopped, kept from their port, not believed by the monitors, or failing for another reason.

use ceph::paths;
use nodekit::systemd::{self, Unit};
use playbooks::ceph::ids;
use spec::Role;

use crate::{
    Check, Checking, Context, Finding, Inconclusive, Part,
    codes::{CEPH_FAILS, CEPH_KEY, CEPH_PORT, CEPH_STOPPED},
};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "ceph-daemons",
    "monitors, managers and OSDs of Ceph that do not run",
    &[CEPH_STOPPED, CEPH_FAILS, CEPH_PORT, CEPH_KEY],
    check,
);

/// The ports of a monitor; the other daemons take any that is free.
const MONITOR_PORTS: &str = "( sport = :3300 or sport = :6789 )";

/// What daemons say whose key the monitors do not know, or that have none.
const NOT_BELIEVED: &[&str] = &["handle_auth_bad_method", "unable to find a keyring", "failed to load keyring"];

/// A daemon that should run, and what is seen of it.
struct Daemon {
    /// `ceph-mon@master-01`.
    unit: String,
    /// Where its key is.
    keyring: String,
    state: Unit,
    output: String,
    /// Who else has one of its ports.
    port: Option<String>,
}

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let mut found = Vec::new();
        for (unit, keyring) in expected(context).await? {
            let state = systemd::check(&context.host, &unit).await.map_err(|error| Inconclusive(error.to_string()))?;
            let output = recently(context, &unit).await?;
            let is_monitor_down = unit.starts_with("ceph-mon@") && (state.active != "active" || state.is_failing());
            let port = if is_monitor_down { foreign_holder(context).await? } else { None };
            found.extend(evaluate(&Daemon { unit, keyring, state, output, port }));
        }
        Ok(found)
    })
}

/// The daemons that were once seen to work here, each with its keyring.
async fn expected(context: &Context) -> Result<Vec<(String, String)>, Inconclusive> {
    let name = &context.node.name;
    let mut units = Vec::new();
    for (role, step, kind, dir) in
        [(Role::CephMon, ids::MON, "mon", paths::mon(name)), (Role::CephMgr, ids::MGR, "mgr", paths::mgr(name))]
    {
        if context.node.has(role) && context.was_done(step).await? {
            units.push((format!("ceph-{kind}@{name}.service"), dir.join("keyring").display().to_string()));
        }
    }
    if context.node.has(Role::CephOsd) && context.was_done(ids::OSD).await? {
        for (id, _) in paths::daemons(&*context.host.disk, paths::OSD)? {
            units.push((format!("ceph-osd@{id}.service"), format!("{}/ceph-{id}/keyring", paths::OSD)));
        }
    }
    Ok(units)
}

/// What a daemon logged since it was last started.
async fn recently(context: &Context, unit: &str) -> Result<String, Inconclusive> {
    let journal = ["--unit", unit, "--lines=40", "--output=cat", "--no-pager", "--quiet"];
    Ok(since_start(&context.output("journalctl", journal).await?).to_owned())
}

fn since_start(journal: &str) -> &str {
    let started = journal.rfind("\nStarted ceph-").map_or(journal, |at| &journal[at + 1..]);
    // One that ended and waits to be started again has logged why before systemd logs that it will be.
    started.split_once('\n').filter(|(first, _)| first.starts_with("Started ceph-")).map_or(started, |(_, rest)| rest)
}

/// Who listens on a monitor's port and is none.
async fn foreign_holder(context: &Context) -> Result<Option<String>, Inconclusive> {
    Ok(holder(&context.output("ss", ["-Hltnp", MONITOR_PORTS]).await?))
}

/// `LISTEN 0 5 0.0.0.0:3300 0.0.0.0:* users:(("socat",pid=812,fd=5))`
fn holder(listening: &str) -> Option<String> {
    listening.lines().find_map(|line| {
        let port = line.split_whitespace().nth(3)?.rsplit(':').next()?;
        let (name, rest) = line.split_once("((\"")?.1.split_once('"')?;
        let pid = rest.split_once("pid=")?.1.split(',').next()?;
        (name != "ceph-mon").then(|| format!("port {port} is held by `{name}`, process {pid}"))
    })
}

fn evaluate(daemon: &Daemon) -> Option<Finding> {
    let Daemon { unit, keyring, state, output, port } = daemon;
    if let Some(port) = port {
        let evidence = format!("{unit} is {}: {port}", state.active);
        return Some(Finding::cause(CEPH_PORT, Part::Ceph, evidence));
    }
    if state.active == "inactive" || state.active == "deactivating" {
        let evidence = format!("{unit} is {} ({}): it was stopped by hand", state.active, state.sub);
        return Some(Finding::cause(CEPH_STOPPED, Part::Ceph, evidence).with_fix(format!("`systemctl start {unit}`")));
    }
    // Each daemon waits a while for monitors that do not answer at all; the checks of monitors report that.
    if let Some(line) = output.lines().rev().find(|line| NOT_BELIEVED.iter().any(|words| line.contains(words))) {
        let evidence = format!("{unit} is {}, its key is in {keyring}; it logged: {}", state.active, line.trim());
        return Some(Finding::cause(CEPH_KEY, Part::Ceph, evidence));
    }
    if !state.is_failing() {
        return None;
    }
    let last = output.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it has no output");
    let evidence = format!("{unit} is {}, started again {} times; last log line: {last}", state.active, state.restarts);
    let fix = format!("its last log line is above; `journalctl -u {unit}` and /var/log/ceph have the whole log");
    Some(Finding::symptom(CEPH_FAILS, Part::Ceph, evidence).with_fix(fix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_has_its_answer() {
        let state =
            |active: &str, sub: &str| Unit { active: active.into(), sub: sub.into(), restarts: 4, ..Unit::default() };
        let refused = "monclient(hunting): handle_auth_bad_method server allowed_methods [2] but i only support [2]\n";
        let held = Some("port 3300 is held by `socat`, process 812".to_owned());
        let mut reported = String::new();
        for (state, output, port) in [
            (state("active", "running"), "osd.0 12 log_to_monitors {default=true}\n", None),
            // It tries for minutes before it gives up.
            (state("active", "running"), refused, None),
            (state("inactive", "dead"), "", None),
            (state("failed", "failed"), "unable to bind\n", held),
            (state("activating", "auto-restart"), refused, None),
            (state("failed", "failed"), "a\nno such file\n\n", None),
            (state("activating", "start"), "", None),
        ] {
            let (unit, keyring) = ("ceph-mon@m.service".to_owned(), "/var/lib/ceph/mon/ceph-m/keyring".to_owned());
            let found = evaluate(&Daemon { unit, keyring, state, output: output.to_owned(), port });
            reported += &found.map_or_else(
                || "nothing\n".to_owned(),
                |one| format!("{} {:?}: {}\n", one.id(), one.kind, one.evidence),
            );
        }
        insta::assert_snapshot!(reported);
    }

    #[test]
    fn what_was_logged_before_the_last_start_is_over() {
        for (journal, expected) in [
            ("", ""),
            ("a\nb\n", "a\nb\n"),
            ("refused\nStarted ceph-mgr@m.service - x.\nfine\n", "fine\n"),
            ("Started ceph-mgr@m.service - x.\nrefused\nScheduled restart job.\n", "refused\nScheduled restart job.\n"),
        ] {
            assert_eq!(since_start(journal), expected, "{journal}");
        }
    }

    #[test]
    fn who_holds_a_port_is_named_unless_it_is_the_monitor() {
        for (listening, expected) in [
            ("", None),
            (
                "LISTEN 0 5 0.0.0.0:3300 0.0.0.0:* users:((\"socat\",pid=812,fd=5))\n",
                Some("port 3300 is held by `socat`, process 812"),
            ),
            ("LISTEN 0 512 10.0.0.1:6789 0.0.0.0:* users:((\"ceph-mon\",pid=7,fd=26))\n", None),
        ] {
            assert_eq!(holder(listening).as_deref(), expected, "{listening}");
        }
    }
}
