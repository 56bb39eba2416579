//! What a backup is locked or opened with: a file that was named, a passphrase that is asked for, a key of this machine.

use std::{
    fs,
    io::{self, IsTerminal},
    path::Path,
};

use backup::{BackupError, Key, Locked, codes, store};
use host::HostError;
use secrecy::{ExposeSecret, SecretString};

use crate::{Failure, cli::KeyOptions, context::Context, output::note};

/// For a new backup.
pub(super) fn locking(options: &KeyOptions) -> Result<Key, Failure> {
    match given(options)? {
        Some(Given::Key(key)) => Ok(key),
        Some(Given::Passphrase(text)) => Ok(Key::new_passphrase(&text)?),
        None => ask_twice(),
    }
}

/// For one that exists. Without a word from the user, a passphrase is asked for, or the key of automatic backups is tried.
pub(super) fn opening(context: &Context, options: &KeyOptions, locked: &Locked) -> Result<Key, Failure> {
    match given(options)? {
        Some(Given::Key(key)) => Ok(key),
        Some(Given::Passphrase(text)) => Ok(Key::passphrase(&text)),
        None if locked.needs_passphrase() => Ok(Key::passphrase(&ask("Passphrase of the backup: ")?)),
        None => Ok(store::key(&*context.host.disk, &context.layout.config_dir, &context.layout.kubernetes_dir)?),
    }
}

enum Given {
    Key(Key),
    Passphrase(SecretString),
}

fn given(options: &KeyOptions) -> Result<Option<Given>, Failure> {
    if let Some(path) = &options.key_file {
        let key = Key::parse(text(path)?.expose_secret());
        return Ok(Some(Given::Key(key.map_err(|error| naming(path, error))?)));
    }
    options.passphrase_file.as_deref().map(|path| Ok(Given::Passphrase(text(path)?))).transpose()
}

fn text(path: &Path) -> Result<SecretString, Failure> {
    let text = fs::read_to_string(path);
    Ok(text.map_err(|source| HostError { doing: "read", path: path.to_path_buf(), source })?.into())
}

/// Which file it was, in front of what is wrong with it.
fn naming(path: &Path, error: BackupError) -> Failure {
    let mut failure = Failure::from(error);
    failure.diagnostic.message = format!("{}: {}", path.display(), failure.diagnostic.message);
    failure
}

fn ask_twice() -> Result<Key, Failure> {
    let first = ask("Passphrase for the backup: ")?;
    let key = Key::new_passphrase(&first)?;
    let again = ask("The same once more: ")?;
    if first.expose_secret() != again.expose_secret() {
        let message = "the two passphrases are not the same; nothing was written";
        return Err(Failure::new(crate::codes::DECLINED, message).with_hint("run the command again"));
    }
    note("Without this passphrase the backup is lost.\n");
    Ok(key)
}

/// What is typed is not shown.
fn ask(question: &str) -> Result<SecretString, Failure> {
    let missing = || Failure::usage(codes::NO_PASSPHRASE, "neither --passphrase-file nor --key-file was given");
    if !io::stdin().is_terminal() {
        return Err(missing());
    }
    note(question);
    rpassword::read_password().map(Into::into).map_err(|_| missing())
}
