//! PEM as text: the certificates of a file, one by one and as they are written.

use base64::{Engine, prelude::BASE64_STANDARD};

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// Every certificate of a text, each with its line end. What stands between them is left out.
pub(crate) fn certificates(text: &str) -> Vec<String> {
    let block = |part: &str| part.find(BEGIN).map(|start| format!("{}{END}\n", &part[start..]));
    let closed = text.rsplit_once(END).map_or("", |(closed, _)| closed);
    closed.split(END).filter_map(block).collect()
}

/// A certificate as it is written everywhere: lines of 64 characters.
pub(crate) fn certificate(der: &[u8]) -> String {
    let body = BASE64_STANDARD.encode(der);
    let lines: Vec<_> = body.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
    format!("{BEGIN}\n{}\n{END}\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_told_apart() {
        let (a, b) = (format!("{BEGIN}\nAAAA\n{END}\n"), format!("{BEGIN}\nBBBB\n{END}\n"));
        for (text, expected) in [
            (String::new(), vec![]),
            ("no certificate".to_owned(), vec![]),
            (a.clone(), vec![&a]),
            (format!("{a}{b}"), vec![&a, &b]),
            (format!("a comment\n{a}\n\nanother\n{b}the end"), vec![&a, &b]),
            (format!("{a}{BEGIN}\ncut off"), vec![&a]),
            (a.trim_end().to_owned(), vec![&a]),
        ] {
            assert_eq!(certificates(&text).iter().collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
