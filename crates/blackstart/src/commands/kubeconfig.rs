//! How a command reaches the cluster of the person who typed it: the kubeconfig that is given, else the first one there is.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use ::prep::codes;

use crate::{Failure, context::Context};

/// The first one that is there: what a master has for its administrators.
const OF_THE_NODE: [&str; 2] = ["super-admin.conf", "admin.conf"];
/// The one given, else the first that there is of the user's and the node's own.
pub(super) fn find(context: &Context, given: Option<&Path>) -> Result<String, Failure> {
    let read = |path: &Path| {
        fs::read_to_string(path).map_err(|error| {
            Failure::new(codes::NO_KUBECONFIG, format!("cannot read the kubeconfig {}: {error}", path.display()))
        })
    };
    if let Some(given) = given {
        return read(given);
    }
    let of_node = OF_THE_NODE.map(|name| context.real_path(&context.layout.kubernetes_dir.join(name)));
    let candidates: Vec<PathBuf> = of_user().into_iter().chain(of_node).collect();
    if let Some(path) = candidates.iter().find(|path| path.exists()) {
        return read(path);
    }
    let checked: Vec<String> = candidates.iter().map(|path| path.display().to_string()).collect();
    Err(Failure::new(codes::NO_KUBECONFIG, format!("there is no kubeconfig at {}", checked.join(", "))))
}

fn of_user() -> Vec<PathBuf> {
    let listed = env::var_os("KUBECONFIG").filter(|list| !list.is_empty());
    match listed {
        Some(list) => env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()).collect(),
        None => env::home_dir().map(|home| home.join(".kube/config")).into_iter().collect(),
    }
}
