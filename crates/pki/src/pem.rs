//! PEM: written in one form, read in that form from strangers, and leniently from files.
//!
//! | from | reader | what is taken |
//! |---|---|---|
//! | a request of another machine | [`exactly`] | one block, byte for byte as it is written here |
//! | a file or an answer | [`blocks`] | any blocks, with comments between them; one that is not closed by its own label spoils all |
//!
//! Readers of PEM differ in what they pass over: after an `END` line of another label one takes what it has, another looks
//! for the next block. A reader that passes over nothing can be shown nothing that others do not see.

use base64::{Engine, prelude::BASE64_STANDARD};

pub(crate) const CERTIFICATE: &str = "CERTIFICATE";
pub(crate) const PUBLIC_KEY: &str = "PUBLIC KEY";
const DASHES: &str = "-----";
const DAMAGED: &str = "its PEM text is damaged";

/// A block of a PEM text.
pub(crate) struct Block {
    pub(crate) label: String,
    pub(crate) contents: Vec<u8>,
}

/// Every block of a PEM text. Text between blocks is passed over if it cannot be taken for a part of one.
pub(crate) fn blocks(bytes: &[u8]) -> Result<Vec<Block>, &'static str> {
    let text = std::str::from_utf8(bytes).map_err(|_| DAMAGED)?;
    let mut found = Vec::new();
    let mut open: Option<(&str, String)> = None;
    for line in text.lines().map(str::trim_end) {
        let framed = line.strip_prefix(DASHES).and_then(|rest| rest.strip_suffix(DASHES));
        match (&mut open, framed) {
            (None, Some(framed)) => {
                let label = framed.strip_prefix("BEGIN ").ok_or(DAMAGED)?;
                open = Some((label, String::new()));
            }
            (Some((label, body)), Some(framed)) if framed.strip_prefix("END ") == Some(*label) => {
                let contents = BASE64_STANDARD.decode(body).map_err(|_| DAMAGED)?;
                found.push(Block { label: (*label).to_owned(), contents });
                open = None;
            }
            (_, _) if line.contains(DASHES) => return Err(DAMAGED),
            (Some((_, body)), _) => body.push_str(line),
            (None, None) => {}
        }
    }
    if open.is_some() { Err(DAMAGED) } else { Ok(found) }
}

/// What is inside of a text that is exactly one block, as [`write`] writes it.
pub(crate) fn exactly(label: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut found = blocks(bytes).ok()?;
    let block = found.pop().filter(|block| found.is_empty() && block.label == label)?;
    (write(label, &block.contents).as_bytes() == bytes).then_some(block.contents)
}

/// As it is written everywhere: lines of 64 characters.
pub(crate) fn write(label: &str, der: &[u8]) -> String {
    let body = BASE64_STANDARD.encode(der);
    let lines: String = body.as_bytes().chunks(64).map(|line| format!("{}\n", String::from_utf8_lossy(line))).collect();
    format!("-----BEGIN {label}-----\n{lines}-----END {label}-----\n")
}

/// Every block of a kind, each with its line end. What stands between them is left out.
pub(crate) fn texts(text: &str, label: &str) -> Vec<String> {
    let [begin, end] = ["BEGIN", "END"].map(|word| format!("-----{word} {label}-----"));
    let block = |part: &str| part.find(&begin).map(|start| format!("{}{end}\n", &part[start..]));
    let closed = text.rsplit_once(&end).map_or("", |(closed, _)| closed);
    closed.split(&end).filter_map(block).collect()
}

/// A certificate as text.
pub(crate) fn certificate(der: &[u8]) -> String {
    write(CERTIFICATE, der)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_distinguished() {
        const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
        const END: &str = "-----END CERTIFICATE-----";
        let (a, b) = (format!("{BEGIN}\nAAAA\n{END}\n"), format!("{BEGIN}\nBBBB\n{END}\n"));
        for (text, expected) in [
            (String::new(), vec![]),
            ("no certificate".to_owned(), vec![]),
            (a.clone(), vec![&a]),
            (format!("{a}{b}"), vec![&a, &b]),
            (format!("a comment\n{a}\n\nanother\n{b}the end"), vec![&a, &b]),
            (format!("{a}{BEGIN}\ncut off"), vec![&a]),
            (a.trim_end().to_owned(), vec![&a]),
            (format!("-----BEGIN PUBLIC KEY-----\nCCCC\n-----END PUBLIC KEY-----\n{a}"), vec![&a]),
        ] {
            assert_eq!(texts(&text, CERTIFICATE).iter().collect::<Vec<_>>(), expected, "{text}");
        }
    }

    #[test]
    fn a_block_ends_with_its_own_label_or_nothing_is_read() {
        let block =
            |begin: &str, body: &str, end: &str| format!("-----BEGIN {begin}-----\n{body}\n-----END {end}-----\n");
        let (a, b) = (block("A", "AAAA", "A"), block("B", "BBBB", "B"));
        for (text, expected) in [
            (String::new(), Some("")),
            ("no block at all".to_owned(), Some("")),
            (format!("{a}{b}"), Some("A B")),
            (format!("a comment\r\n{a}\r\n\r\nanother\n{b}the end"), Some("A B")),
            (a.replace('\n', "\r\n"), Some("A")),
            (a.trim_end().to_owned(), Some("A")),
            (block("A", "AAAA", "X"), None),
            (format!("{}{a}", block("A", "BBBB", "X")), None),
            (format!("-----BEGIN A-----\nAAAA\n{a}"), None),
            (format!("{a}-----END A-----\n"), None),
            (format!("{a}-----BEGIN B-----\nBBBB\n"), None),
            (a.replace("AAAA", "-----BEGIN B-----BBBB"), None),
            (a.replace("AAAA", "Proc-Type: 4,ENCRYPTED\n\nAAAA"), None),
            (a.replace("AAAA", "AAA"), None),
            (format!(" {a}"), None),
        ] {
            let seen = blocks(text.as_bytes()).ok();
            let seen = seen.map(|all| all.iter().map(|block| block.label.as_str()).collect::<Vec<_>>().join(" "));
            assert_eq!(seen.as_deref(), expected, "{text}");
        }
        assert!(blocks(b"-----BEGIN A-----\nAAAA\xff\n-----END A-----\n").is_err());
    }

    #[test]
    fn from_strangers_only_what_would_be_written_here() {
        let written = write("A", &[7; 60]);
        assert_eq!(exactly("A", written.as_bytes()), Some(vec![7; 60]));
        let body = written.lines().nth(1).unwrap().to_owned();
        for other in [
            format!("{written}\n"),
            format!("\n{written}"),
            format!("{written}{written}"),
            written.trim_end().to_owned(),
            written.replace('\n', "\r\n"),
            written.replace("-----\n", "----- \n"),
            written.replacen(&body, &format!("{}\n{}", &body[..32], &body[32..]), 1),
            written.replace(" A-", " B-"),
        ] {
            assert_eq!(exactly("A", other.as_bytes()), None, "{other}");
        }
    }
}
