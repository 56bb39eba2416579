//! By whom a backup can be read: holders of a passphrase, or of a key.
//!
//! A key is 32 random bytes in the form that `age-keygen` gives them, so that `age --decrypt -i FILE` opens the backup,
//! too. The key that automatic backups are made for is one of these, if the operator gave one; else it is derived from the
//! cluster's join key, which lies in the first master's sealed directory and so does not die with the machines.

use std::iter;

use age::{DecryptError, Decryptor, EncryptError, Encryptor, scrypt, stream::StreamReader, x25519};
use aws_lc_rs::hkdf::{HKDF_SHA256, Salt};
use bech32::{Bech32, Hrp};
use join::JoinKey;
use secrecy::{ExposeSecret, SecretString};

use crate::BackupError;

const PURPOSE: &[u8] = b"blackstart backup key v1";
const PREFIX: Hrp = Hrp::parse_unchecked("AGE-SECRET-KEY-");
/// Fewer characters are guessed in no time.
const SHORTEST: usize = 12;
/// As the tool `age` does it: a quarter of a gigabyte and a second for each guess.
const WORK: u8 = 18;
/// What is asked for by an untrusted file, at most.
const MOST_WORK: u8 = 20;

/// What locks and opens a backup.
pub enum Key {
    /// What a person remembers.
    Passphrase(SecretString),
    /// What a file holds.
    Identity(x25519::Identity),
}

impl Key {
    /// A new one, as the text of a file.
    pub fn generate() -> SecretString {
        let identity = x25519::Identity::generate();
        let (public, secret) = (identity.to_public(), identity.to_string());
        format!("# public key: {public}\n{}\n", secret.expose_secret()).into()
    }

    /// Reads the text of a key file: one of [`generate`](Self::generate) or `age-keygen`, or a `join.key`.
    pub fn parse(text: &str) -> Result<Self, BackupError> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let lines: Vec<&str> = lines.collect();
        if let [only] = lines.as_slice()
            && let Ok(identity) = only.parse()
        {
            return Ok(Self::Identity(identity));
        }
        // While a join key is replaced its file has two lines, and the first is in use.
        Self::of_cluster(&JoinKey::parse(&lines.join("\n")).map_err(|_| BackupError::BadKey)?)
    }

    /// The cluster's own.
    pub fn of_cluster(join_key: &JoinKey) -> Result<Self, BackupError> {
        let secret = Salt::new(HKDF_SHA256, &[]).extract(join_key.text().expose_secret().as_bytes());
        let mut bytes = [0; 32];
        let derived = secret.expand(&[PURPOSE], HKDF_SHA256).and_then(|okm| okm.fill(&mut bytes));
        derived.map_err(|_| BackupError::BadKey)?;
        let text = bech32::encode_upper::<Bech32>(PREFIX, &bytes).map_err(|_| BackupError::BadKey)?;
        text.parse().map(Self::Identity).map_err(|_| BackupError::BadKey)
    }

    /// A passphrase for a new backup. The end of a line is not part of it.
    pub fn new_passphrase(text: &SecretString) -> Result<Self, BackupError> {
        let text = text.expose_secret().trim_end_matches(['\r', '\n']);
        if text.chars().count() < SHORTEST {
            return Err(BackupError::ShortPassphrase(SHORTEST));
        }
        Ok(Self::Passphrase(text.into()))
    }

    /// A passphrase of an old one.
    pub fn passphrase(text: &SecretString) -> Self {
        Self::Passphrase(text.expose_secret().trim_end_matches(['\r', '\n']).into())
    }

    pub(crate) fn encryptor(&self) -> Result<Encryptor, EncryptError> {
        match self {
            Self::Passphrase(text) => {
                let mut recipient = scrypt::Recipient::new(text.clone());
                recipient.set_work_factor(WORK);
                Encryptor::with_recipients(iter::once(&recipient as &dyn age::Recipient))
            }
            Self::Identity(identity) => {
                Encryptor::with_recipients(iter::once(&identity.to_public() as &dyn age::Recipient))
            }
        }
    }

    pub(crate) fn open<R: std::io::Read>(&self, locked: Decryptor<R>) -> Result<StreamReader<R>, DecryptError> {
        match self {
            Self::Passphrase(text) => {
                let mut identity = scrypt::Identity::new(text.clone());
                identity.set_max_work_factor(MOST_WORK);
                locked.decrypt(iter::once(&identity as &dyn age::Identity))
            }
            Self::Identity(identity) => locked.decrypt(iter::once(identity as &dyn age::Identity)),
        }
    }
}

#[cfg(test)]
mod tests {
    use explain::Explain;

    use super::*;
    use crate::codes;

    fn public(key: &Key) -> String {
        match key {
            Key::Identity(identity) => identity.to_public().to_string(),
            Key::Passphrase(_) => "a passphrase".into(),
        }
    }

    #[test]
    fn keys_are_written_and_read_back() {
        let text = Key::generate();
        let key = Key::parse(text.expose_secret()).unwrap();
        assert!(text.expose_secret().contains(&public(&key)), "the file names its public half");
        assert_ne!(Key::generate().expose_secret(), text.expose_secret());
    }

    #[test]
    fn the_clusters_key_is_always_the_same() {
        let key = |text: &str| public(&Key::parse(text).unwrap());
        let join_key = "A".repeat(43);
        assert_eq!(key(&join_key), key(&format!("{join_key}\n")));
        assert_ne!(key(&join_key), key(&format!("B{}", "A".repeat(42))));
        assert_eq!(key(&join_key), key(&format!("{join_key}\nB{}\n", "A".repeat(42))), "while it is replaced");
        // A backup of today must open in ten years.
        insta::assert_snapshot!(key(&join_key));
    }

    #[test]
    fn other_texts_are_refused_without_being_repeated() {
        let two = format!("{}{}", Key::generate().expose_secret(), Key::generate().expose_secret());
        for text in ["", "# only a comment", "hunter2hunter2", "age1qqqq", two.as_str()] {
            let error = Key::parse(text).err().unwrap();
            assert_eq!(error.code(), codes::BAD_KEY, "{text}");
            assert!(!error.to_string().contains("hunter2"));
        }
    }

    #[test]
    fn a_new_passphrase_is_long_and_its_line_end_no_part_of_it() {
        for (text, expected) in [
            ("", None),
            ("\n\n\n\n\n\n\n\n\n\n\n\n\n", None),
            ("elevenchars", None),
            ("correct horse\n", Some("correct horse")),
            ("  two spaces  ", Some("  two spaces  ")),
            ("zwölf zeichen\r\n", Some("zwölf zeichen")),
        ] {
            let seen = Key::new_passphrase(&text.into()).ok();
            let seen = seen.as_ref().map(|key| match key {
                Key::Passphrase(text) => text.expose_secret(),
                Key::Identity(_) => "a key",
            });
            assert_eq!(seen, expected, "{text:?}");
        }
    }
}
