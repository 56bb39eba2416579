//! `blackstart config`: configuration directories for the nodes, and the end of what they hold.

mod revoke;

use std::collections::{BTreeMap, BTreeSet};

use ::host::{Change, Host};
use jiff::Timestamp;
use join::seal::{self, Existing, Sources, Terms};
use nodekit::identity;
pub(super) use revoke::revoke;
use serde_json::json;
use spec::ValidatedCluster;

use super::token::moment;
use crate::{
    Failure,
    cli::SealOptions,
    context::{Context, Ended},
};

/// Works on the computer where the configuration is made, whatever `--root` says.
pub(super) fn seal(context: &Context, options: &SealOptions) -> Result<(), Ended> {
    let (dir, out) = (&options.dir, &options.out);
    let cluster = context.cluster(Some(dir))?;
    let now = context.host.clock.now();
    let terms = terms(context, options, &cluster)?;
    let disk = Host::real().disk;
    let out = std::path::absolute(out).unwrap_or_else(|_| out.clone());
    let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
    let sources = Sources::read(&*disk, &dir, &cluster)?;
    let existing = Existing::read(&*disk, &out, &cluster)?;
    let changes = seal::plan(&cluster, &sources, &existing, now, &terms)?;
    let changes = Change::missing(changes, &*disk)?;
    for change in &changes {
        change.apply(&*disk)?;
    }
    let written = changes.iter().filter(|change| matches!(change, Change::File { .. })).count();
    let nodes: Vec<&str> = cluster.machines().map(|node| node.name.as_str()).collect();
    let ends = Existing::read(&*disk, &out, &cluster)?.ends();
    if context.out.is_json() {
        let result = json!({ "out": out, "nodes": nodes, "files_written": written, "expires": ends });
        return Ok(context.out.json(&result)?);
    }
    let first = seal::keeper(&cluster).map(|node| node.name.as_str()).unwrap_or_default();
    let out = out.display();
    let ends = reported(&ends);
    Ok(context.out.text(&match written {
        0 => format!("{out} is sealed already for {}\n{ends}", nodes.join(", ")),
        _ => format!(
            "sealed {} in {out}\n{ends}\nPut each directory on its machine: blackstart node install --config {out}/NAME\n\
             {out}/{first} holds the cluster's keys: keep a safe copy of it.\n",
            nodes.join(", ")
        ),
    })?)
}

fn terms(context: &Context, options: &SealOptions, cluster: &ValidatedCluster) -> Result<Terms, Failure> {
    let expires = match options.expires.as_deref() {
        Some("never") => None,
        Some(length) => Some(moment(context, length)?),
        None => seal::end(cluster.bootstrap().secret_ttl, context.host.clock.now()),
    };
    for name in &options.renew {
        identity::by_name(cluster, name)?;
    }
    let all = cluster.machines().map(|node| node.name.clone());
    let renew: BTreeSet<String> = if options.all { all.collect() } else { options.renew.iter().cloned().collect() };
    Ok(Terms { expires, renew })
}

/// When the nodes' secrets end: one line for those that end together.
fn reported(ends: &BTreeMap<String, Option<Timestamp>>) -> String {
    let mut together: BTreeMap<Option<Timestamp>, Vec<&str>> = BTreeMap::new();
    for (node, end) in ends {
        together.entry(*end).or_default().push(node);
    }
    let is_one = together.len() == 1;
    let line = |(end, nodes): (&Option<Timestamp>, &Vec<&str>)| {
        let whose = if is_one { "their secrets".to_owned() } else { format!("the secrets of {}", nodes.join(", ")) };
        match end {
            Some(end) => {
                let end = end.strftime("%Y-%m-%d %H:%M:%S UTC");
                format!("{whose} are valid for joining until {end}; nodes that have joined are not affected\n")
            }
            None => format!("{whose} never expire: a copy of one is enough to join\n"),
        }
    };
    together.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_reported_together() {
        let end = |text: &str| text.parse::<Timestamp>().ok();
        let december = end("2026-12-17T12:00:00Z");
        let named = |ends: &[(&str, Option<Timestamp>)]| {
            reported(&ends.iter().map(|(node, end)| ((*node).to_owned(), *end)).collect())
        };
        insta::assert_snapshot!(
            [
                named(&[("a", december), ("b", december)]),
                named(&[("a", None), ("b", None)]),
                named(&[("a", december), ("b", end("2027-01-01T00:00:00Z")), ("c", december)]),
            ]
            .join("\n")
        );
    }
}
