//! What an attacker may do to the PEM text around a request.

use crate::chance::Chance;

const LABEL: &str = "CERTIFICATE REQUEST";

/// As Go and everybody writes it.
pub(crate) fn write(der: &[u8]) -> Vec<u8> {
    let body = base64(der);
    let lines: Vec<u8> = body.chunks(64).flat_map(|line| [line, b"\n"].concat()).collect();
    [format!("-----BEGIN {LABEL}-----\n").as_bytes(), &lines, format!("-----END {LABEL}-----\n").as_bytes()].concat()
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = Vec::new();
    for group in bytes.chunks(3) {
        let number = (0..3).fold(0_usize, |number, at| number << 8 | usize::from(*group.get(at).unwrap_or(&0)));
        for digit in 0..4 {
            let is_there = digit <= group.len();
            text.push(if is_there { DIGITS[number >> (18 - 6 * digit) & 63] } else { b'=' });
        }
    }
    text
}

fn replaced(text: &[u8], from: &str, to: &[u8]) -> Vec<u8> {
    match text.windows(from.len()).position(|window| window == from.as_bytes()) {
        Some(at) => [&text[..at], to, &text[at + from.len()..]].concat(),
        None => text.to_vec(),
    }
}

fn everywhere(text: &[u8], from: u8, to: &[u8]) -> Vec<u8> {
    text.iter().flat_map(|byte| if *byte == from { to.to_vec() } else { vec![*byte] }).collect()
}

fn inserted(text: &[u8], at: usize, what: &[u8]) -> Vec<u8> {
    [&text[..at], what, &text[at..]].concat()
}

/// A place at the beginning of a line.
fn line(text: &[u8], chance: &mut Chance) -> usize {
    let starts: Vec<usize> =
        text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    if starts.is_empty() { 0 } else { *chance.of(&starts) }
}

/// A place anywhere.
fn position(text: &[u8], chance: &mut Chance) -> usize {
    chance.below(text.len() + 1)
}

const LABELS: &[&[u8]] = &[
    b"X",
    b"",
    b"CERTIFICATE",
    b"NEW CERTIFICATE REQUEST",
    b"certificate request",
    b"CERTIFICATE REQUEST ",
    b" CERTIFICATE REQUEST",
    b"CERTIFICATE REQUEST-",
    b"CERTIFICATE REQUEST\0",
    b"CERTIFICATE\tREQUEST",
    b"CERTIFICATE REQUEST\xff",
];
const WHITE: &[&[u8]] =
    &[b" ", b"\t", b"\n", b"\r", b"\r\n", b"\x0b", b"\x0c", b"\0", b"\xc2\xa0", b"\xef\xbb\xbf", b"\xff"];
const HEADERS: &[&[u8]] = &[b"A: b\n\n", b"A: b\n", b"Proc-Type: 4,ENCRYPTED\n\n", b": \n\n", b"A:\n b\n\n", b"\n"];

/// One thing that is done to a text; the second one is another request of the attacker.
pub(crate) type Trick = (&'static str, fn(&[u8], &[u8], &mut Chance) -> Vec<u8>);

#[rustfmt::skip]
pub(crate) const TRICKS: &[Trick] = &[
    ("another first label", |text, _, chance| replaced(text, "BEGIN CERTIFICATE REQUEST", &[b"BEGIN ", *chance.of(LABELS)].concat())),
    ("another last label", |text, _, chance| replaced(text, "END CERTIFICATE REQUEST", &[b"END ", *chance.of(LABELS)].concat())),
    ("two faces", |text, other, chance| [&replaced(text, "END CERTIFICATE REQUEST", &[b"END ", *chance.of(LABELS)].concat()), other].concat()),
    ("two faces, the other way", |text, other, chance| [&replaced(other, "END CERTIFICATE REQUEST", &[b"END ", *chance.of(LABELS)].concat()), text].concat()),
    ("two requests", |text, other, _| [text, other].concat()),
    ("the other one first", |text, other, _| [other, text].concat()),
    ("one inside of the other", |text, other, chance| inserted(text, line(text, chance), other)),
    ("one anywhere inside of the other", |text, other, chance| inserted(text, position(text, chance), other)),
    ("another beginning before", |text, _, chance| [b"-----BEGIN ", *chance.of(LABELS), b"-----\n", text].concat()),
    ("another end behind", |text, _, chance| [text, b"-----END ", *chance.of(LABELS), b"-----\n"].concat()),
    ("an end before", |text, _, chance| [b"-----END ", *chance.of(LABELS), b"-----\n", text].concat()),
    ("no end", |text, _, _| replaced(text, "-----END CERTIFICATE REQUEST-----\n", b"")),
    ("no beginning", |text, _, _| replaced(text, "-----BEGIN CERTIFICATE REQUEST-----\n", b"")),
    ("fewer dashes", |text, _, chance| { let all: Vec<usize> = (0..text.len()).filter(|at| text[*at] == b'-').collect(); let mut text = text.to_vec(); if !all.is_empty() { text.remove(*chance.of(&all)); } text }),
    ("more dashes", |text, _, chance| inserted(text, position(text, chance), b"-")),
    ("headers", |text, _, chance| replaced(text, "REQUEST-----\n", &[b"REQUEST-----\n", *chance.of(HEADERS)].concat())),
    ("headers anywhere", |text, _, chance| inserted(text, line(text, chance), chance.pick(HEADERS))),
    ("white space", |text, _, chance| inserted(text, position(text, chance), chance.pick(WHITE))),
    ("white space before a line", |text, _, chance| inserted(text, line(text, chance), chance.pick(WHITE))),
    ("white space behind every line", |text, _, chance| everywhere(text, b'\n', &[*chance.of(WHITE), b"\n"].concat())),
    ("other ends of lines", |text, _, chance| everywhere(text, b'\n', chance.pick(&[&b"\r\n"[..], b"\r", b"\n\n", b"\n\r"]))),
    ("no last end of line", |text, _, _| text.strip_suffix(b"\n").unwrap_or(text).to_vec()),
    ("words before", |text, _, chance| [*chance.of(&[&b"hello\n"[..], b"hello", b"\n", b" ", b"\0", b"\xff\n"]), text].concat()),
    ("words behind", |text, _, chance| [text, *chance.of(&[&b"hello\n"[..], b"hello", b"\n", b" ", b"\0", b"\xff\n"])].concat()),
    ("lines of another length", |text, _, chance| {
        let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        if lines.len() < 4 { return text.to_vec(); }
        let length = *chance.of(&[1, 4, 63, 65, 76, 4096]);
        let body = lines[1..lines.len() - 2].concat();
        let body: Vec<u8> = body.chunks(length).flat_map(|line| [line, b"\n"].concat()).collect();
        [lines[0], b"\n", &body, lines[lines.len() - 2], b"\n"].concat()
    }),
    ("other digits", |text, _, _| everywhere(&everywhere(text, b'+', b"_"), b'/', b"-")),
    ("padding less", |text, _, _| replaced(text, "=\n", b"\n")),
    ("padding more", |text, _, chance| replaced(text, "\n-----END", chance.pick(&[&b"=\n-----END"[..], b"==\n-----END", b"\n=\n-----END", b"AAAA\n-----END", b"\nAAAA\n-----END"]))),
    ("bits behind the last digit", |text, _, chance| match text.iter().position(|byte| *byte == b'=') {
        Some(at) if at > 0 => { let mut text = text.to_vec(); text[at - 1] = text[at - 1].wrapping_add(1 + chance.byte() % 3); text }
        _ => text.to_vec(),
    }),
    ("another byte", |text, _, chance| { let mut text = text.to_vec(); if !text.is_empty() { let at = chance.below(text.len()); text[at] = chance.byte(); } text }),
    ("another bit", |text, _, chance| { let mut text = text.to_vec(); if !text.is_empty() { let at = chance.below(text.len()); text[at] ^= 1 << chance.below(8); } text }),
    ("a byte less", |text, _, chance| { let mut text = text.to_vec(); if !text.is_empty() { text.remove(chance.below(text.len())); } text }),
    ("a byte more", |text, _, chance| { let byte = chance.byte(); inserted(text, position(text, chance), &[byte]) }),
    ("cut off", |text, _, chance| text[..position(text, chance)].to_vec()),
    ("nothing", |_, _, _| Vec::new()),
];
