//! Scrubs a text of everything that is or looks secret.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::{
    patterns::{MARK, Patterns},
    secrets::Secrets,
};

/// Knows what must not be in a text.
pub(crate) struct Scrubber {
    values: Option<AhoCorasick>,
    patterns: Patterns,
}

impl Scrubber {
    /// For these values, and for everything that has the form of a secret. The error names no value.
    pub(crate) fn new(secrets: &Secrets) -> Result<Self, String> {
        let forms = secrets.forms();
        let values =
            (!forms.is_empty()).then(|| AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(forms));
        let values = values.transpose().map_err(|_| "too many secrets to scan for".to_owned())?;
        Ok(Self { values, patterns: Patterns::new().map_err(|error| error.to_string())? })
    }

    /// The text without secrets, and how many there were.
    pub(crate) fn scrub(&self, bytes: &[u8]) -> (Vec<u8>, usize) {
        let mut count = 0;
        let mut clean = Vec::with_capacity(bytes.len());
        match &self.values {
            Some(values) => values.replace_all_with_bytes(bytes, &mut clean, |_, _, out| {
                count += 1;
                out.extend_from_slice(MARK.as_bytes());
                true
            }),
            None => clean.extend_from_slice(bytes),
        }
        let text = String::from_utf8_lossy(&clean);
        let (text, more) = self.patterns.scrub(&text);
        (text.into_bytes(), count + more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_are_found_where_nothing_looks_secret() {
        let mut secrets = Secrets::default();
        secrets.add([b"correct-horse".to_vec()]);
        let scrubber = Scrubber::new(&secrets).unwrap();
        let (text, count) = scrubber.scrub(b"a pod said correct-horse, and Y29ycmVjdC1ob3JzZQ== too");
        assert_eq!(
            (String::from_utf8(text).unwrap().as_str(), count),
            ("a pod said [redacted], and [redacted] too", 2)
        );
        let (text, count) = Scrubber::new(&Secrets::default()).unwrap().scrub(b"nothing to see");
        assert_eq!((text.as_slice(), count), (&b"nothing to see"[..], 0));
    }
}
