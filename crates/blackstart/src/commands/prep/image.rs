//! `blackstart prep image`: the image that the `DaemonSets` run.

use std::path::Path;

use playbooks::program_image;
use serde_json::json;

use crate::{
    Failure, codes,
    context::{Context, Ended},
};

pub(super) fn run(context: &Context, to: &Path) -> Result<(), Ended> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(codes::NO_RUNTIME, format!("cannot find this program: {error}")))?;
    let name = program_image::name();
    program_image::write(&program, to)?;
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "image": name, "archive": to }))?);
    }
    Ok(context.out.text(&format!("{name} is in {}\n", to.display()))?)
}
