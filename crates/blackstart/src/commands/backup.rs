//! `blackstart backup`: everything a cluster cannot be without, in one encrypted file. One file per command.

mod create;
mod key;
mod list;
mod restore;
mod verify;

use backup::Key;
use secrecy::ExposeSecret;

use crate::{
    cli::BackupCommand,
    context::{Context, Ended},
    output::print,
};

pub(super) fn run(context: &Context, command: &BackupCommand) -> Result<(), Ended> {
    match command {
        BackupCommand::Create { file, key } => create::run(context, file.as_deref(), key),
        BackupCommand::Verify { file, key } => verify::run(context, file, key),
        BackupCommand::Restore { file, key, node, force, yes } => {
            let how = restore::How { node: node.as_deref(), force: *force, yes: *yes };
            restore::run(context, file, key, &how)
        }
        BackupCommand::List { dir } => list::run(context, dir.as_deref()),
        // Its text is the result, in every form: it is meant for a file.
        BackupCommand::Key => Ok(print(Key::generate().expose_secret().as_bytes())?),
    }
}
