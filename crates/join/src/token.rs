//! Bootstrap tokens, `id.secret` as kubeadm writes them.

use secrecy::{ExposeSecret, SecretString};
use spec::Token;

use crate::{
    mac,
    secret::{BadSecret, NoRandomness},
};

const ALPHABET: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
const ID: usize = 6;
const SECRET: usize = 16;

/// A new token.
pub fn generate() -> Result<Token, NoRandomness> {
    Ok(Token { id: characters(ID)?, secret: characters(SECRET)?.into() })
}

/// Reads `id.secret`.
pub fn parse(text: &str) -> Result<Token, BadSecret> {
    let fits = |part: &str, length| part.len() == length && part.bytes().all(|byte| ALPHABET.contains(&byte));
    match text.trim().split_once('.') {
        Some((id, secret)) if fits(id, ID) && fits(secret, SECRET) => {
            Ok(Token { id: id.to_owned(), secret: secret.into() })
        }
        _ => Err(BadSecret("a token (six characters, a dot, sixteen characters)")),
    }
}

/// `id.secret`.
pub fn text(token: &Token) -> SecretString {
    format!("{}.{}", token.id, token.secret.expose_secret()).into()
}

/// True for what can be a token's id; anything else need not be looked up.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() == ID && text.bytes().all(|byte| ALPHABET.contains(&byte))
}

fn characters(length: usize) -> Result<String, NoRandomness> {
    // Bytes beyond the last whole multiple of the alphabet are thrown away, or its first letters would be more likely.
    let usable = 256 / ALPHABET.len() * ALPHABET.len();
    let mut text = String::with_capacity(length);
    while text.len() < length {
        let fair = mac::random::<32>()?.into_iter().filter(|byte| usize::from(*byte) < usable);
        let letters = fair.map(|byte| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]));
        text.extend(letters.take(length - text.len()));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_is_generated_can_be_parsed_and_differs() {
        let tokens: BTreeSet<String> = (0..100)
            .map(|_| {
                let token = generate().unwrap();
                let read = parse(text(&token).expose_secret()).unwrap();
                assert_eq!(text(&read).expose_secret(), text(&token).expose_secret());
                text(&token).expose_secret().to_owned()
            })
            .collect();
        assert_eq!(tokens.len(), 100);
        let used: BTreeSet<char> = tokens.iter().flat_map(|token| token.chars()).collect();
        assert_eq!(used.len(), ALPHABET.len() + 1, "every letter and the dot are used");
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "abcdef", "abcdef.0123", "ABCDEF.0123456789abcdef", "abcdef.0123456789abcde!"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
