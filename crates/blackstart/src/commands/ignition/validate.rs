//! `blackstart ignition validate`: every problem of configs at once.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use ::ignition::{MAX_BYTES, Problem, codes};
use serde_json::json;

use crate::{
    Exit,
    context::{Context, Ended},
};

pub(super) fn run(context: &Context, files: &[PathBuf]) -> Result<(), Ended> {
    let now = context.host.clock.now();
    let problems: Vec<Problem> = files
        .iter()
        .flat_map(|path| {
            let name = path.display().to_string();
            match read(path) {
                Ok(bytes) => ::ignition::validate(&name, &bytes, now),
                Err(error) => vec![Problem::whole(codes::UNREADABLE, &name, error.to_string())],
            }
        })
        .collect();
    if context.out.is_json() {
        context.out.json(&json!({ "valid": problems.is_empty(), "problems": problems }))?;
    } else if problems.is_empty() {
        context.out.text(&format!("{} valid\n", explain::counted(files.len(), "config")))?;
    } else {
        context.out.text(&::ignition::report(&problems))?;
    }
    if problems.is_empty() { Ok(()) } else { Err(Ended::Reported(Exit::Failed)) }
}

/// One byte more than is accepted is enough to refuse it.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
