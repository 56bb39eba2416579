//! `blackstart check`: every problem of the configuration at once.

use std::path::Path;

use ::explain::counted;
use serde_json::json;

use crate::{
    Exit,
    context::{Context, Ended},
};

pub(super) fn run(context: &Context, dir: Option<&Path>) -> Result<(), Ended> {
    let checked = spec::check_dir(&context.config_source(dir));
    if context.out.is_json() {
        context.out.json(&json!({ "valid": checked.cluster.is_some(), "problems": checked.problems }))?;
    } else {
        context.out.text(&spec::report(&checked.problems, context.out.color()))?;
        if let Some(cluster) = &checked.cluster {
            context.out.text(&format!(
                "cluster `{}` is valid: {}, {}{}, Kubernetes {}\n",
                cluster.name(),
                counted(cluster.nodes().len(), "node"),
                counted(cluster.masters().count(), "master"),
                if cluster.bootstrap_node().is_some() { ", a bootstrap node" } else { "" },
                cluster.kubernetes_version(),
            ))?;
        }
    }
    if checked.cluster.is_some() { Ok(()) } else { Err(Ended::Reported(Exit::Failed)) }
}
