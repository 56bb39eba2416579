//! `blackstart completions` and `blackstart man`: made from the same texts as `--help`.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::{
    Failure,
    cli::Cli,
    codes,
    context::{Context, Ended},
    output,
};

pub(super) fn completions(shell: Shell) -> Result<(), Ended> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "blackstart", &mut script);
    Ok(output::print(&script)?)
}

pub(super) fn man(context: &Context, dir: &Path) -> Result<(), Ended> {
    let write = || {
        std::fs::create_dir_all(dir)?;
        clap_mangen::generate_to(Cli::command(), dir)?;
        Ok(std::fs::read_dir(dir)?.count())
    };
    let pages = write().map_err(|error: std::io::Error| {
        Failure::new(codes::CANNOT_PRINT, format!("cannot write man pages to {}: {error}", dir.display()))
    })?;
    Ok(context.out.text(&format!("{pages} man pages in {}\n", dir.display()))?)
}
