//! `blackstart diagnose`: why this node does not work.

use checks::Subject;
use diagnose::{ABOUT_NODE_UP, Check, Diagnosis, registry};
use playbooks::cluster;
use serde::Serialize;
use serde_json::json;
use spec::{Node, ValidatedCluster};

use crate::{
    Exit, Failure, Style, codes,
    context::{Context, Ended, block_on},
    output::{note, painted, print},
};

pub(super) fn run(context: &Context, name: Option<&str>, list: bool) -> Result<(), Ended> {
    if list {
        return show_list(context);
    }
    if !context.host.is_live {
        return Err(Failure::usage(codes::NOT_LIVE, "this machine was not booted by systemd").into());
    }
    let cluster = context.cluster(None)?;
    let node = context.node(&cluster, name)?;
    let diagnosis = diagnosis(context, &cluster, node, registry().iter())?;
    if context.out.is_json() {
        context.out.json(&Reported { node: &node.name, diagnosis: &diagnosis })?;
    } else {
        context.out.text(&coloured(context.out.color(), &diagnose::show(&diagnosis)))?;
    }
    if diagnosis.is_well() { Ok(()) } else { Err(Ended::Reported(Exit::Failed)) }
}

/// Says under the error of a failed `node up` what is most likely behind it. `output` are the codes of that error: what it
/// has reported already is not reported again. A diagnosis that cannot be made is no second error.
pub(super) fn likely_cause(context: &Context, cluster: &ValidatedCluster, node: &Node, output: &[&str]) {
    // That one would report the very run that asks.
    let checks = registry().iter().filter(|check| check.name != ABOUT_NODE_UP);
    let Ok(diagnosis) = diagnosis(context, cluster, node, checks) else { return };
    if context.out.is_json() {
        let line = json!({ "diagnosis": Reported { node: &node.name, diagnosis: &diagnosis } });
        // The run has failed already; a reader who has gone does not make it worse.
        let _ = print(format!("{line}\n").as_bytes());
        return;
    }
    let is_new = diagnosis.likely_cause().is_some_and(|finding| !output.contains(&finding.id()));
    if let Some(text) = diagnose::show_likely_cause(&diagnosis).filter(|_| is_new) {
        note(&coloured(context.out.color_errors(), &text));
    }
}

/// A diagnosis for scripts.
#[derive(Serialize)]
struct Reported<'a> {
    node: &'a str,
    #[serde(flatten)]
    diagnosis: &'a Diagnosis,
}

/// Looks at everything once.
fn diagnosis(
    context: &Context,
    cluster: &ValidatedCluster,
    node: &Node,
    checks: impl Iterator<Item = &'static Check>,
) -> Result<Diagnosis, Ended> {
    let subject = Subject {
        host: context.host.clone(),
        cluster: cluster.clone(),
        node: node.clone(),
        layout: context.layout.clone(),
        machine_ids: cluster::machine_ids(cluster, node, &context.layout),
    };
    Ok(block_on(diagnose::run(checks, &diagnose::Context::new(subject)))?)
}

fn show_list(context: &Context) -> Result<(), Ended> {
    if !context.out.is_json() {
        return Ok(context.out.text(&diagnose::list(registry()))?);
    }
    let check = |check: &Check| {
        let codes: Vec<&str> = check.codes.iter().map(|code| code.id).collect();
        json!({ "name": check.name, "about": check.about, "roles": check.roles, "codes": codes })
    };
    Ok(context.out.json(&registry().iter().map(check).collect::<Vec<_>>())?)
}

/// The first word of each line in its colour.
fn coloured(color: bool, text: &str) -> String {
    const WORDS: [(&str, Style); 5] = [
        ("problem", Style::Bad),
        ("likely cause", Style::Bad),
        ("warning", Style::Warning),
        ("unknown", Style::Dim),
        ("nothing is wrong", Style::Good),
    ];
    let line = |line: &str| {
        let word = WORDS.iter().find_map(|(word, style)| Some((word, *style, line.strip_prefix(word)?)));
        match word {
            Some((word, style, rest)) => format!("{}{rest}\n", painted(color, style, word)),
            None => format!("{line}\n"),
        }
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_adds_nothing_but_colour() {
        let text = "problem  A: seen\n         fix: do\nwarning  B\nunknown  c\nnothing is wrong\n";
        assert_eq!(coloured(false, text), text);
        let colours = coloured(true, text);
        assert_eq!(colours.matches("\u{1b}[0m").count(), 4, "{colours:?}");
        assert!(colours.contains("         fix: do\n"), "{colours:?}");
    }
}
