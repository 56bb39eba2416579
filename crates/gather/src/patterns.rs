//! What looks secret, wherever it stands: one line per form.

use std::{borrow::Cow, sync::LazyLock};

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use regex::{Captures, Regex};

/// What stands in the place of a secret.
pub(crate) const MARK: &str = "[redacted]";

/// `token: value`, `"password": "value"`, `--token=value`: a name that ends like a secret, and its value.
pub(crate) const NAMED_SECRET: &str = r#"(?i)(?P<name>[a-z0-9_.-]*(?:token|secret|password|passwd|passphrase|psk|api[_-]?key|key-data|private[_-]?key)\\?["']?\s*[:=]\s*\\?["']?)(?P<value>[^\s"'\\,;{}\[\]()<>]+)"#;

/// `--token value`, as on a command line.
const FLAG: &str = r"(?P<name>--[a-z-]*(?:token|secret|password)\s+)(?P<value>[^\s-][^\s]*)";

/// `Authorization: Bearer value`.
const HEADER: &str = r"(?i)(?P<name>\b(?:bearer|basic)\s+)(?P<value>[A-Za-z0-9+/=._~-]{12,})";

/// `https://user:password@host`.
const ADDRESS: &str = r"(?P<name>://[^\s:/@]+:)(?P<value>[^\s/@]+)@";

/// A key from its first line to its last, or to the end of the text where that is cut off.
const KEY: &str = r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)";

/// `abcdef.0123456789abcdef`; the first part is no secret.
const TOKEN: &str = r"(?P<name>\b[a-z0-9]{6}\.)(?P<value>[a-z0-9]{16})\b";

/// A node's secret, see the `join` crate; the first parts are none.
const NODE_SECRET: &str = r"(?P<name>\bv2\.[a-z0-9.-]+\.[0-9]+\.)(?P<value>[A-Za-z0-9_-]{40,})";

/// The key of an encrypted backup, see the `backup` crate; some of it is enough.
const AGE_KEY: &str = r"(?i)\bage-secret-key-(?:pq-)?1[a-z0-9]{8,}";

/// A token of a service account, and others of its kind.
const SIGNED: &str = r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}";

/// A key of Ceph: type and length are at fixed places, so its text always begins and ends alike.
pub(crate) const CEPHX: &str = r"\bA[Qg][A-P][A-Za-z0-9+/]{35,56}={1,2}";

/// What may be base64 of a key.
const ENCODED: &str = r"[A-Za-z0-9+/_-]{40,}={0,2}";

/// Values behind secret names that are none: paths, yes and no, numbers and times.
const HARMLESS: &str = r"(?i)^(?:/.*|true|false|null|none|nil|<nil>|-?[0-9.]+(?:ms|s|m|h|d)?|.*\[redacted\].*)$";

/// Names that end like a secret and have none: etcd's is the cluster's name.
const HARMLESS_NAMES: &[&str] = &["initial-cluster-token"];

/// All forms.
pub(crate) struct Patterns {
    key: Regex,
    encoded: Regex,
    named: [Regex; 6],
    bare: [Regex; 3],
    base64: [GeneralPurpose; 2],
}

impl Patterns {
    pub(crate) fn new() -> Result<Self, regex::Error> {
        let lenient = GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true);
        let [one, two, three, four, five, six] =
            [NODE_SECRET, TOKEN, NAMED_SECRET, FLAG, HEADER, ADDRESS].map(Regex::new);
        Ok(Self {
            key: Regex::new(KEY)?,
            encoded: Regex::new(ENCODED)?,
            named: [one?, two?, three?, four?, five?, six?],
            bare: [Regex::new(SIGNED)?, Regex::new(AGE_KEY)?, Regex::new(CEPHX)?],
            base64: [alphabet::STANDARD, alphabet::URL_SAFE].map(|alphabet| GeneralPurpose::new(&alphabet, lenient)),
        })
    }

    /// The text without what looks secret, and how many there were.
    pub(crate) fn scrub(&self, text: &str) -> (String, usize) {
        let mut count = 0;
        let mut text = replaced(&self.key, text, |_| {
            count += 1;
            Some(format!("{MARK} private key"))
        });
        for pattern in &self.bare {
            text = replaced(pattern, &text, |_| {
                count += 1;
                Some(MARK.to_owned())
            });
        }
        text = replaced(&self.encoded, &text, |found| {
            let hides = self.hides_a_key(&found[0], 2);
            count += usize::from(hides);
            hides.then(|| MARK.to_owned())
        });
        for pattern in &self.named {
            text = replaced(pattern, &text, |found| {
                let is_named_so = HARMLESS_NAMES.iter().any(|name| found["name"].contains(name));
                if is_named_so || is_harmless(&found["value"]) {
                    return None;
                }
                count += 1;
                let end = if found[0].ends_with('@') { "@" } else { "" };
                Some(format!("{}{MARK}{end}", &found["name"]))
            });
        }
        (text, count)
    }

    /// Whether a text is base64 of a key, or of base64 of one.
    fn hides_a_key(&self, text: &str, depth: u8) -> bool {
        let holds = |bytes: Vec<u8>| {
            let inner = String::from_utf8_lossy(&bytes);
            inner.contains("PRIVATE KEY-----") || (depth > 1 && self.hides_a_key(inner.trim(), depth - 1))
        };
        self.base64.iter().any(|engine| engine.decode(text).is_ok_and(holds))
    }
}

/// Whether a name promises a secret value.
pub(crate) fn sounds_secret(name: &str) -> bool {
    const WORDS: &[&str] =
        &["token", "secret", "passw", "passphrase", "credential", "api_key", "apikey", "private_key"];
    let name = name.to_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// Whether a value behind such a name is none all the same: a path, a yes, a time.
pub(crate) fn is_harmless(value: &str) -> bool {
    static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(HARMLESS).ok());
    PATTERN.as_ref().is_some_and(|pattern| pattern.is_match(value))
}

/// Replaces what the function has a replacement for.
fn replaced(pattern: &Regex, text: &str, mut with: impl FnMut(&Captures<'_>) -> Option<String>) -> String {
    let replaced: Cow<'_, str> =
        pattern.replace_all(text, |found: &Captures<'_>| with(found).unwrap_or_else(|| found[0].to_owned()));
    replaced.into_owned()
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

    use super::*;

    const PEM: &str = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIBrandom\n-----END EC PRIVATE KEY-----";

    #[test]
    fn what_looks_secret_is_masked() {
        let patterns = Patterns::new().unwrap();
        let encoded = STANDARD.encode(PEM);
        let cut = PEM.split_at(50).0;
        for (text, expected) in [
            (PEM, "[redacted] private key"),
            (cut, "[redacted] private key"),
            (&format!("{{\"x\":\"{}\"}}", PEM.replace('\n', "\\n")), "{\"x\":\"[redacted] private key\"}"),
            (&encoded, MARK),
            (&STANDARD.encode(&encoded), MARK),
            (&URL_SAFE_NO_PAD.encode(PEM), MARK),
            ("kubeadm join x --token abcdef.0123456789abcdef --y", "kubeadm join x --token abcdef.[redacted] --y"),
            ("v2.worker-01.7.0.AbCdEfGhIjKlMnOpQrStUvWxYz0123456789_-AbCdE", "v2.worker-01.7.0.[redacted]"),
            ("got eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlIn0.c2lnbmF0dXJl!", "got [redacted]!"),
            ("a AGE-SECRET-KEY-1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHC b", "a [redacted] b"),
            ("it said \"age-secret-key-1qpzry9x8gf2tvdw", "it said \"[redacted]"),
            ("  token: hunter2", "  token: [redacted]"),
            ("{\"password\":\"hunter2\",\"x\":1}", "{\"password\":\"[redacted]\",\"x\":1}"),
            ("msg=\"{\\\"token\\\":\\\"hunter2\\\"}\"", "msg=\"{\\\"token\\\":\\\"[redacted]\\\"}\""),
            ("tool --password hunter2 now", "tool --password [redacted] now"),
            ("Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer [redacted]"),
            ("https://me:hunter2@registry/x", "https://me:[redacted]@registry/x"),
            ("    client-key-data: TUhjQ0FRRUVJQg==", "    client-key-data: [redacted]"),
            ("psk=hunter2", "psk=[redacted]"),
            ("\tkey = AQDRRxlp6SUZBBAAQUJDREVGR0hJSktMTU5PUA==\n", "\tkey = [redacted]\n"),
        ] {
            assert_eq!(patterns.scrub(text), (expected.to_owned(), 1), "{text}");
        }
    }

    #[test]
    fn what_only_sounds_secret_stays() {
        let patterns = Patterns::new().unwrap();
        let certificate = STANDARD.encode("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----");
        for text in [
            "--service-account-private-key-file=/etc/kubernetes/pki/sa.key",
            "automountServiceAccountToken: true",
            "token-ttl: 24h",
            "--initial-cluster-token=home",
            "\"initial-cluster-token\":\"home\"",
            "secretName: registry",
            "system:bootstrappers:kubeadm:default-node-token",
            "192.168.1.10 k8s.example.org 10.244.0.0/24",
            "master-01.187f3c1a2b3c4d5e",
            "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "https://10.0.0.1:6443/readyz",
            "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
            "a backup key begins with AGE-SECRET-KEY-1",
            &certificate,
        ] {
            assert_eq!(patterns.scrub(text), (text.to_owned(), 0));
        }
    }
}
