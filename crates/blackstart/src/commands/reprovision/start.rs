//! `blackstart reprovision start` and `abort`.

use std::{collections::BTreeMap, fs, io, path::Path};

use serde_json::json;
use upgrades::{Phase, names};

use super::ask;
use crate::{
    Exit, Failure, codes,
    context::{Context, Ended},
    output::note,
};

pub(super) fn run(
    context: &Context,
    node: &str,
    secret: Option<&Path>,
    kubeconfig: Option<&Path>,
) -> Result<(), Ended> {
    let data = match secret {
        Some(dir) => keys(dir).map_err(|error| {
            Failure::new(codes::NO_SECRET_FILES, format!("cannot read the keys in {}: {error}", dir.display()))
        })?,
        None => BTreeMap::new(),
    };
    ask(context, kubeconfig, async |client| upgrades::start(&client, node, &data).await)?;
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "node": node, "secret": names::secret(node) }))?);
    }
    let next = format!("{node} is labelled; `blackstart reprovision status {node}` shows how far it is\n");
    Ok(context.out.text(&next)?)
}

/// A file for each key. Hidden ones are those of editors and of mounted Secrets.
fn keys(dir: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut keys = BTreeMap::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') && fs::metadata(entry.path())?.is_file() {
            keys.insert(name, fs::read_to_string(entry.path())?);
        }
    }
    if keys.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "it has no files"));
    }
    Ok(keys)
}

pub(super) fn abort(context: &Context, node: &str, kubeconfig: Option<&Path>) -> Result<(), Ended> {
    let object = ask(context, kubeconfig, async |client| upgrades::abort(&client, node).await)?;
    let phase = object.status.phase;
    if context.out.is_json() {
        context.out.json(&json!({ "node": node, "phase": phase }))?;
    }
    if phase.is_committed() {
        note(&format!("{node} has begun to change itself ({phase}) and goes on; if it fails it goes back by itself\n"));
        return Err(Ended::Reported(Exit::Failed));
    }
    let outcome = if phase.is_end() && phase != Phase::Stuck { "nothing is under way" } else { "it is given back" };
    if !context.out.is_json() {
        context
            .out
            .text(&format!("{node}: {outcome}; `blackstart reprovision status {node}` shows how far it is\n"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_a_key() {
        let dir = tempfile::tempdir().unwrap();
        assert!(keys(dir.path()).is_err(), "an empty directory is a mistake");
        fs::write(dir.path().join("region"), "eu-de\n").unwrap();
        fs::write(dir.path().join(".swp"), "x").unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        assert_eq!(keys(dir.path()).unwrap(), BTreeMap::from([("region".to_owned(), "eu-de\n".to_owned())]));
    }
}
