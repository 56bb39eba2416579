//! Bootstrap tokens, `id.secret` as kubeadm writes them. No message about one repeats it.

use explain::Diagnostic;
use schemars::{Schema, json_schema};
use secrecy::{ExposeSecret, SecretString};

use super::Value;
use crate::{cluster::Token, codes};

const ID_LENGTH: usize = 6;
const SECRET_LENGTH: usize = 16;

/// Every page on bootstrap tokens prints this one.
const EXAMPLE: (&str, &str) = ("abcdef", "0123456789abcdef");

impl Value for Token {
    const EXPECTED: &'static str = "a bootstrap token";
    const SECRET: bool = true;

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        let complain = |what: String| Err(Diagnostic::new(codes::BAD_TOKEN, format!("the bootstrap token {what}")));
        let Some((id, secret)) = text.split_once('.') else {
            return complain("has no dot between its id and its secret".into());
        };
        if id.len() != ID_LENGTH {
            return complain(format!("has an id of {} characters instead of {ID_LENGTH}", id.chars().count()));
        }
        if secret.len() != SECRET_LENGTH {
            let length = secret.chars().count();
            return complain(format!("has a secret of {length} characters instead of {SECRET_LENGTH}"));
        }
        if !id.bytes().chain(secret.bytes()).all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
            return complain("holds something else than lower-case letters and digits".into());
        }
        Ok(Self { id: id.to_owned(), secret: SecretString::from(secret) })
    }

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": r"^[a-z0-9]{6}\.[a-z0-9]{16}$", "writeOnly": true })
    }
}

/// True for the token that every page on bootstrap tokens prints.
pub(crate) fn is_example(token: &Token) -> bool {
    (token.id.as_str(), token.secret.expose_secret()) == EXAMPLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens() {
        let rows =
            ["abcdef", "abc.0123456789abcdef", "abcdef.0123", "ABCDEF.0123456789abcdef", "abcdef.0123456789abcde!"];
        let report: Vec<String> = rows.iter().map(|text| Token::parse(text).unwrap_err().message).collect();
        insta::assert_snapshot!(report.join("\n"));
    }

    #[test]
    fn the_example_is_known() {
        assert!(is_example(&Token::parse("abcdef.0123456789abcdef").unwrap()));
        assert!(!is_example(&Token::parse("k2m8xq.0123456789abcdef").unwrap()));
    }

    #[test]
    fn debug_output_hides_the_secret() {
        let token = Token::parse("k2m8xq.0123456789abcdef").unwrap();
        assert!(!format!("{token:?}").contains("0123456789abcdef"));
    }
}
