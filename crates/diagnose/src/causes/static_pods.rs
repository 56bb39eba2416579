//! The control plane of a bootstrap node, which its kubelet runs from manifests: one that is gone or cannot be read, one that
//! no container comes of, and one whose container ends again and again.

use host::Cmd;

use super::changed::difference;
use crate::{
    Check, Checking, Context, Finding, Inconclusive, Part, Roles,
    codes::{CRASH_LOOP, MANIFEST_GONE, MANIFEST_UNREADABLE, SERVICE_CHANGED, STATIC_POD_DOWN},
    view::{Runs, StaticPod},
};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "static-pods",
    "the static pods of a bootstrap node: manifests, containers, and why they end",
    &[MANIFEST_GONE, MANIFEST_UNREADABLE, STATIC_POD_DOWN, SERVICE_CHANGED, CRASH_LOOP],
    check,
)
.only(Roles::Masters);

/// What a kubelet logs about a manifest that it cannot read: a part of the line.
const COMPLAINTS: &[&str] = &["can't process config file", "Could not process manifest", "couldn't parse as pod"];

/// A log line that is longer is of no more use to a person.
const LONGEST: usize = 400;

/// What was found of one process.
struct Seen<'a> {
    name: &'static str,
    part: Part,
    manifest: String,
    is_there: bool,
    /// How its files differ from what they should be.
    changes: Vec<String>,
    /// What the kubelet logged about the manifest since it was changed.
    complaint: Option<String>,
    runs: Option<&'a Runs>,
    /// Why: the last line of the container that ended, or of the kubelet that could not start it.
    output: String,
}

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let pods = &context.static_pods().await?.all;
        let log = if pods.is_empty() { String::new() } else { kubelet_log(context, "-2min").await? };
        let mut found = Vec::new();
        for pod in pods {
            found.extend(evaluate(&seen(context, pod, &log).await?));
        }
        Ok(found)
    })
}

async fn seen<'a>(context: &Context, pod: &'a StaticPod, log: &'a str) -> Result<Seen<'a>, Inconclusive> {
    let mut changes = Vec::new();
    for file in &pod.files {
        changes.extend(difference(&*context.host.disk, file)?);
    }
    let manifest = pod.manifest().display().to_string();
    let is_there = context.host.disk.exists(pod.manifest())?;
    let complaint = if is_there && !changes.is_empty() {
        let time = context.output("stat", ["--format=%Z", &manifest]).await?;
        let log = kubelet_log(context, &format!("@{}", time.trim())).await?;
        complaint(&log, &manifest).filter(|_| !is_followed(pod.made, time.trim())).map(str::to_owned)
    } else {
        None
    };
    let pod_name = format!("{}-{}", pod.name, context.node.name);
    let output = match &pod.runs {
        Some(Runs::Ends { id, .. }) => last_line(&context.container_log(id).await.unwrap_or_default()),
        Some(Runs::No) => log.lines().find(|line| line.contains(&pod_name) && line.contains("err=")).map(cut),
        Some(Runs::Yes) | None => None,
    };
    Ok(Seen {
        name: pod.name,
        part: pod.part(),
        is_there,
        complaint,
        manifest,
        changes,
        runs: pod.runs.as_ref(),
        output: output.unwrap_or_default(),
    })
}

/// What the kubelet logged since a moment, the last line first.
async fn kubelet_log(context: &Context, since: &str) -> Result<String, Inconclusive> {
    let since = format!("--since={since}");
    let which = ["--unit=kubelet", &since, "--reverse", "--lines=600", "--output=cat", "--no-pager", "--quiet"];
    Ok(context.host.commands.run(&Cmd::new("journalctl").args(which)).await?.stdout)
}

fn complaint<'a>(log: &'a str, manifest: &str) -> Option<&'a str> {
    log.lines().find(|line| line.contains(manifest) && COMPLAINTS.iter().any(|words| line.contains(words)))
}

/// Whether a container was made since the manifest was changed: the kubelet has read it by then, whatever it logged about a file
/// that was only half written.
fn is_followed(made: Option<i64>, changed: &str) -> bool {
    made.zip(changed.parse().ok()).is_some_and(|(made, changed)| made >= changed)
}

fn last_line(log: &str) -> Option<String> {
    log.lines().find(|line| !line.trim().is_empty()).map(cut)
}

fn cut(line: &str) -> String {
    line.trim().chars().take(LONGEST).collect()
}

fn evaluate(seen: &Seen<'_>) -> Vec<Finding> {
    let Seen { name, part, manifest, is_there, changes, complaint, runs, output } = seen;
    if !is_there {
        let evidence = format!("{manifest} is not there, so the kubelet stops {name}");
        return vec![Finding::cause(MANIFEST_GONE, *part, evidence)];
    }
    if let Some(line) = complaint {
        let evidence = format!("the kubelet cannot read {manifest} and stops {name}: {}", cut(line));
        return vec![Finding::cause(MANIFEST_UNREADABLE, *part, evidence)];
    }
    let mut found = Vec::new();
    if !changes.is_empty() {
        let evidence = format!("the static pod {name} was changed by hand: {}", changes.join("; "));
        let fix = "`blackstart node up` writes the file as it should be, and the kubelet starts the pod again";
        found.push(Finding::suspicion(SERVICE_CHANGED, *part, evidence).with_fix(fix));
    }
    let why = |nothing: &str| if output.is_empty() { nothing.to_owned() } else { format!("last log line: {output}") };
    match runs {
        Some(Runs::Ends { id, restarts }) => {
            let evidence =
                format!("the static pod {name} has ended, started again {restarts} times; {}", why("it has no output"));
            let fix = format!("its last log line is above; `crictl logs {}` shows the whole log", short(id));
            found.push(Finding::symptom(CRASH_LOOP, *part, evidence).with_fix(fix));
        }
        Some(Runs::No) => {
            let evidence =
                format!("the static pod {name} has no container; {}", why("the kubelet has logged no reason"));
            found.push(Finding::symptom(STATIC_POD_DOWN, *part, evidence));
        }
        Some(Runs::Yes) | None => {}
    }
    found
}

/// As crictl shows it.
fn short(id: &str) -> &str {
    id.get(..13).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_has_its_answer() {
        let seen = || Seen {
            name: "etcd",
            part: Part::Etcd,
            manifest: "/etc/kubernetes/manifests/etcd-pod.yaml".into(),
            is_there: true,
            changes: Vec::new(),
            complaint: None,
            runs: Some(&Runs::Yes),
            output: String::new(),
        };
        let changed = || vec!["/etc/kubernetes/manifests/etcd-pod.yaml, from line 3 on".to_owned()];
        let ends = Runs::Ends { id: "0123456789abcdef0".into(), restarts: 4 };
        let line = r#""Could not process manifest file" err="yaml: line 1""#;
        let cases = [
            seen(),
            Seen { is_there: false, runs: Some(&Runs::No), ..seen() },
            Seen { changes: changed(), complaint: Some(line.to_owned()), ..seen() },
            Seen { changes: changed(), ..seen() },
            Seen { runs: Some(&ends), output: "fatal: no space left on device".into(), ..seen() },
            Seen { runs: Some(&Runs::No), output: r#""Error syncing pod" err="no sandbox""#.into(), ..seen() },
            Seen { runs: Some(&Runs::No), ..seen() },
            Seen { runs: None, ..seen() },
        ];
        let line = |finding: &Finding| format!("{} {:?}: {}", finding.id(), finding.kind, finding.evidence);
        let reported = |seen: &Seen<'_>| evaluate(seen).iter().map(line).collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!(cases.iter().map(reported).collect::<Vec<_>>().join("\n---\n"));
    }

    #[test]
    fn a_complaint_is_of_one_manifest() {
        let log = "\"Unable to process watch event\" err=\"can't process config file \\\"/m/etcd-pod.yaml\\\": /m/etcd-pod.yaml: couldn't parse\"\nother";
        assert!(complaint(log, "/m/etcd-pod.yaml").is_some());
        assert_eq!(complaint(log, "/m/kube-scheduler-pod.yaml"), None);
        for (made, expected) in [(None, false), (Some(99), false), (Some(100), true), (Some(101), true)] {
            assert_eq!(is_followed(made, "100"), expected, "{made:?}");
        }
        assert_eq!(complaint("\"Creating\" path=\"/m/etcd-pod.yaml\"", "/m/etcd-pod.yaml"), None);
    }
}
