//! `blackstart completions` and `blackstart man`: made from the same texts as `--help`.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::{
    Failure,
    cli::{Cli, complete},
    codes,
    context::{Context, Ended},
    output,
};

pub(super) fn completions(shell: Shell) -> Result<(), Ended> {
    let script = complete::registration(&shell.to_string())
        .ok_or_else(|| Failure::new(codes::CANNOT_PRINT, format!("there are no completions for {shell}")))?;
    Ok(output::print(&script)?)
}

pub(super) fn man(context: &Context, dir: &Path) -> Result<(), Ended> {
    let written = std::fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(Cli::command(), dir));
    written.map_err(|error| {
        Failure::new(codes::CANNOT_PRINT, format!("cannot write man pages to {}: {error}", dir.display()))
    })?;
    Ok(context.out.text(&format!("man pages are in {}\n", dir.display()))?)
}
