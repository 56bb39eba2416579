use std::fmt::Write as _;

use super::*;
use crate::source::Sources;

/// The tree on one line, or the codes of what was found.
fn read(text: &str) -> String {
    let sources = Sources::cluster(text);
    let (file, source) = sources.files().next().unwrap();
    let mut problems = Problems::of(&sources);
    let root = parse(file, source.text.as_deref().unwrap(), &mut problems);
    let found = problems.finish();
    if found.is_empty() {
        shape(&root.unwrap())
    } else {
        found
            .iter()
            .map(|problem| {
                let at = problem.position.map(|at| format!("@{}:{}", at.line, at.column)).unwrap_or_default();
                format!("{}{at}", problem.diagnostic.code.id)
            })
            .collect::<Vec<_>>()
            .join(" ")
    }
}

fn shape(node: &Node) -> String {
    match &node.kind {
        Kind::Scalar(scalar) if scalar.plain => scalar.text.to_string(),
        Kind::Scalar(scalar) => format!("{:?}", scalar.text),
        Kind::List(items) => format!("[{}]", items.iter().map(shape).collect::<Vec<_>>().join(" ")),
        Kind::Map(entries) => {
            let entries = entries.iter().map(|entry| format!("{}:{}", entry.key, shape(&entry.value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(" "))
        }
    }
}

#[test]
fn trees() {
    for (text, expected) in [
        ("a: 1\nb: [x, 'y']\n", "{a:1 b:[x \"y\"]}"),
        ("\u{feff}a: 1\r\nb:\r\n  - c\r\n", "{a:1 b:[c]}"),
        ("a: &x {k: v}\nb: *x\n", "{a:{k:v} b:{k:v}}"),
        ("a: !!str 12\n", "{a:\"12\"}"),
        ("---\na: 1\n...\n", "{a:1}"),
        ("a:\nb: ~\n", "{a:~ b:~}"),
        ("a: |\n  text\n", "{a:\"text\\n\"}"),
    ] {
        assert_eq!(read(text), expected, "{text:?}");
    }
}

#[test]
fn mistakes() {
    for (text, expected) in [
        ("", "BS-SPEC-005"),
        ("# only a comment\n", "BS-SPEC-005"),
        ("---\n", "BS-SPEC-005"),
        ("a: 1\na: 2\nb: 3\nb: 4\n", "BS-SPEC-008@2:1 BS-SPEC-008@4:1"),
        ("a: 1\n---\nb: 2\n", "BS-SPEC-009@2:1"),
        ("a: [1, 2\n", "BS-SPEC-006@1:4"),
        ("a: 'x\n", "BS-SPEC-006@2:1"),
        ("a:\n\tb: 1\n", "BS-SPEC-007@2:1"),
        ("a:\n  b: 1\n \tc: 1\n", "BS-SPEC-007@3:2"),
        ("a: b: c\n", "BS-SPEC-006@1:5"),
        ("a: *nowhere\n", "BS-SPEC-006@1:4"),
        ("a: &x [*x]\n", "BS-SPEC-010@1:8"),
        ("x: &x {k: v}\na:\n  <<: *x\n", "BS-SPEC-011@3:3"),
        ("a: !vault x\nb: !!int '3'\n", "BS-SPEC-011@1:4 BS-SPEC-011@2:4"),
        ("? [a, b]\n: c\n", "BS-SPEC-011@1:3"),
        ("ä: 1\nö: 1\nä: 2\n", "BS-SPEC-008@3:1"),
    ] {
        assert_eq!(read(text), expected, "{text:?}");
    }
}

#[test]
fn deep_nesting_is_refused_in_every_style() {
    let flow = "[".repeat(10_000);
    let block = "- ".repeat(10_000);
    let mut aliases = "a0: &a0 [x]\n".to_owned();
    for level in 1..10_000 {
        writeln!(aliases, "a{level}: &a{level} [*a{}]", level - 1).unwrap();
    }
    for text in [flow, block, aliases] {
        assert!(read(&text).starts_with("BS-SPEC-010"), "{}", &text[..40]);
    }
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let inner = vec![format!("*a{}", level - 1); 10].join(", ");
        writeln!(bomb, "a{level}: &a{level} [{inner}]").unwrap();
    }
    assert!(read(&bomb).starts_with("BS-SPEC-010"));
}
