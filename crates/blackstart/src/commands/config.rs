//! `blackstart config`: configuration directories for the nodes.

use std::path::Path;

use ::host::{Change, Host};
use join::seal::{self, Existing, Sources};
use serde_json::json;

use super::token::moment;
use crate::context::{Context, Ended};

/// Works on the computer where the configuration is made, whatever `--root` says.
pub(super) fn seal(context: &Context, dir: &Path, out: &Path, expires_in: Option<&str>) -> Result<(), Ended> {
    let cluster = context.cluster(Some(dir))?;
    let expires = expires_in.map(|length| moment(context, length)).transpose()?;
    let disk = Host::real().disk;
    let out = std::path::absolute(out).unwrap_or_else(|_| out.to_path_buf());
    let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf());
    let sources = Sources::read(&*disk, &dir, &cluster)?;
    let existing = Existing::read(&*disk, &out, &cluster)?;
    let changes = seal::plan(&cluster, &sources, &existing, context.host.clock.now(), expires)?;
    let changes = Change::missing(changes, &*disk)?;
    for change in &changes {
        change.apply(&*disk)?;
    }
    let written = changes.iter().filter(|change| matches!(change, Change::File { .. })).count();
    let nodes: Vec<&str> = cluster.nodes().iter().map(|node| node.name.as_str()).collect();
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "out": out, "nodes": nodes, "files_written": written }))?);
    }
    let first = cluster.masters().next().map(|node| node.name.as_str()).unwrap_or_default();
    let out = out.display();
    Ok(context.out.text(&match written {
        0 => format!("{out} is sealed already for {}\n", nodes.join(", ")),
        _ => format!(
            "sealed {} in {out}\n\nPut each directory on its machine: blackstart node install --config {out}/NAME\n\
             {out}/{first} holds the cluster's keys: keep a copy of it in a safe place.\n",
            nodes.join(", ")
        ),
    })?)
}
