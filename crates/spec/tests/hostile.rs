//! Files that are broken, hostile or absurd: refused quickly, with bounded memory, and never with a panic.

#![expect(clippy::unwrap_used, reason = "a failing unwrap in a test is the failure we want to see")]

use std::{fmt::Write as _, fs, path::Path, time::Duration};

use proptest::prelude::*;
use spec::{Checked, check_dir, check_text, codes, report};

const HOME: &str = include_str!("../../../examples/home/cluster.yaml");
const HA_CEPH: &str = include_str!("../../../examples/ha-ceph/cluster.yaml");

/// A debug build is slow; what is refused late takes minutes.
const QUICK: Duration = Duration::from_secs(5);

fn quickly(check: impl FnOnce() -> Checked) -> Checked {
    let before = computed();
    let checked = check();
    let took = computed().saturating_sub(before);
    assert!(took < QUICK, "took {took:?}");
    checked
}

/// How long this thread has been computing: a wall clock would measure whatever else the machine does.
fn computed() -> Duration {
    let statistics = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(statistics.split(' ').next().unwrap().parse().unwrap())
}

fn codes_of(checked: &Checked) -> Vec<&'static str> {
    checked.problems.iter().map(|problem| problem.diagnostic.code.id).collect()
}

fn dir_with(cluster_yaml: &[u8]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("cluster.yaml"), cluster_yaml).unwrap();
    dir
}

#[test]
fn a_file_that_is_not_utf8() {
    for (bytes, message) in [
        (&b"cluster:\n  name: h\xe4uschen\n"[..], "this file is not UTF-8: byte 0xe4 in line 2"),
        (b"\xff\xfec\0l\0", "this file is UTF-16 text"),
        (b"\x7fELF\x02\x01\x01\0\xf0", "this file is not UTF-8: byte 0xf0 in line 1"),
    ] {
        let checked = check_dir(dir_with(bytes).path());
        assert_eq!(codes_of(&checked), [codes::NOT_UTF8.id]);
        assert_eq!(checked.problems[0].diagnostic.message, message);
    }
}

#[test]
fn a_file_without_end_is_not_read() {
    let dir = dir_with(b"");
    let file = fs::File::options().write(true).open(dir.path().join("cluster.yaml")).unwrap();
    file.set_len(1 << 40).unwrap();
    let checked = quickly(|| check_dir(dir.path()));
    assert_eq!(codes_of(&checked), [codes::TOO_LARGE.id]);
}

#[test]
fn what_is_no_plain_file_is_not_opened() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/zero", dir.path().join("cluster.yaml")).unwrap();
    fs::create_dir_all(dir.path().join("nodes/worker-01.yaml")).unwrap();
    let checked = quickly(|| check_dir(dir.path()));
    assert_eq!(codes_of(&checked), [codes::UNREADABLE.id, codes::UNREADABLE.id]);
}

#[test]
fn a_directory_that_is_not_there_or_none() {
    assert_eq!(codes_of(&check_dir(Path::new("/nowhere/at/all"))), [codes::NOT_FOUND.id]);
    let dir = dir_with(HOME.as_bytes());
    assert_eq!(codes_of(&check_dir(&dir.path().join("cluster.yaml"))), [codes::NOT_FOUND.id]);
}

#[test]
fn other_files_beside_the_node_files_are_left_alone() {
    let dir = dir_with(HOME.as_bytes());
    fs::create_dir(dir.path().join("nodes")).unwrap();
    for name in ["README.md", ".worker-01.yaml.swp", ".hidden.yaml", "worker-01.yaml~"] {
        fs::write(dir.path().join("nodes").join(name), "not ours: [").unwrap();
    }
    assert_eq!(codes_of(&check_dir(dir.path())), [codes::NO_IDENTITY.id]);
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut bomb = "cluster: {name: home}\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..25 {
        writeln!(bomb, "a{level}: &a{level} [{}]", vec![format!("*a{}", level - 1); 10].join(", ")).unwrap();
    }
    bomb.push_str("nodes: *a24\n");
    assert_eq!(codes_of(&quickly(|| check_text(&bomb))), [codes::TOO_COMPLEX.id]);
}

#[test]
fn a_value_without_end_is_refused() {
    let text =
        format!("cluster: {{name: &long {}}}\nnodes: [{}]\n", "x".repeat(1 << 20), vec!["*long"; 100_000].join(", "));
    assert_eq!(codes_of(&quickly(|| check_text(&text))), [codes::TOO_COMPLEX.id]);
}

#[test]
fn many_aliases_of_a_long_text_share_it() {
    let long = "x".repeat(4_000);
    let aliases = vec!["*long"; 100_000].join(", ");
    let text = format!("cluster: {{name: &long {long}}}\nnodes: [{aliases}]\n");
    let checked = quickly(|| check_text(&text));
    assert!(checked.cluster.is_none());
    assert!(checked.problems.iter().all(|problem| problem.diagnostic.message.len() < 500));
}

#[test]
fn a_file_of_nothing_but_mistakes_has_a_bounded_report() {
    let mut text = HOME.to_owned();
    for index in 0..50_000 {
        writeln!(text, "key{index}: 1").unwrap();
    }
    let checked = quickly(|| check_text(&text));
    assert!(codes_of(&checked).contains(&codes::TOO_MANY.id));
    assert!(checked.problems.len() <= 10_001);
}

#[test]
fn a_mebibyte_of_anything_is_refused_quickly() {
    for unit in ["a", "[", "{", "- ", "a: ", "\n", "\"", "'", "&a ", "*a ", "? ", "! ", "#", "\t", "|\n", "é", "a:\n"]
    {
        let text = unit.repeat((1 << 20) / unit.len());
        let checked = quickly(|| check_text(&text));
        assert!(checked.cluster.is_none(), "{unit:?}");
        assert!(report(&checked.problems, false).len() < 20 << 20, "{unit:?}");
    }
}

/// Positions lie in the file, the report can be made, and there is a cluster exactly if there is no error.
fn assert_sound(text: &str) {
    let checked = check_text(text);
    let lines = u32::try_from(text.lines().count()).unwrap() + 1;
    for problem in &checked.problems {
        assert!(problem.position.is_none_or(|at| (1..=lines).contains(&at.line) && at.column >= 1), "{problem:?}");
    }
    assert_eq!(checked.cluster.is_some(), checked.errors() == 0, "{text}");
    assert_eq!(report(&checked.problems, false).is_empty(), checked.problems.is_empty());
}

#[test]
fn every_prefix_of_an_example_is_checked_without_a_panic() {
    for example in [HOME, HA_CEPH] {
        for (end, _) in example.char_indices() {
            assert_sound(&example[..end]);
        }
    }
}

/// One edit: a stretch of the text is replaced by something a person or a broken disk might leave there.
fn edited() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just(String::new()),
        "[ -~\n\t]{0,6}",
        "\\PC{0,4}",
        prop::sample::select(vec![
            "\t",
            "\r\n",
            "\u{0}",
            "---\n",
            "...",
            "<<: *x",
            "&x ",
            "*x",
            "!!int ",
            "[",
            "]",
            "{",
            "}",
            "\"",
            "'",
            "null",
            "~",
            "1e999",
            "- ",
            ": ",
            "|\n",
            "%",
            "@",
            "#",
            "\u{feff}",
            "ip: 1",
            "fd00::1",
            "0.0.0.0/0",
            "::/0",
            "255.255.255.255/32",
            "18446744073709551616",
        ])
        .prop_map(str::to_owned),
    ];
    let edit = (any::<prop::sample::Index>(), 0..12_usize, piece);
    (prop::sample::select(vec![HOME, HA_CEPH]), prop::collection::vec(edit, 1..4)).prop_map(|(example, edits)| {
        let mut characters: Vec<char> = example.chars().collect();
        for (at, length, piece) in edits {
            let start = at.index(characters.len());
            let end = (start + length).min(characters.len());
            characters.splice(start..end, piece.chars());
            if characters.is_empty() {
                characters.push(' ');
            }
        }
        characters.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_examples_are_checked_without_a_panic(text in edited()) {
        assert_sound(&text);
    }
}
