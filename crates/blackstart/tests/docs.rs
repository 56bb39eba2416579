//! The generated pages of the docs are those this program would write. `UPDATE_DOCS=1` writes them.
//!
//! The worked examples of `docs/development.md` are code of ours: so they are compiled and tested, and here they are compared with it.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use regex::Regex;

#[test]
fn docs_list_every_code() {
    let output =
        std::process::Command::new(env!("CARGO_BIN_EXE_blackstart")).args(["explain", "-o", "json"]).output().unwrap();
    let codes: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    let mut page = String::from(
        "# Error codes\n\nMade from the program's own list; `blackstart explain CODE` shows the same. A code never changes its meaning.\n\n| code | meaning | what to do |\n|---|---|---|\n",
    );
    for code in &codes {
        let cell = |name: &str| code[name].as_str().expect("a text").replace('|', "\\|");
        page += &format!("| `{}` | {} | {} |\n", cell("code"), cell("meaning"), cell("fix"));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/codes.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    assert_eq!(
        fs::read_to_string(&path).unwrap_or_default(),
        page,
        "run `UPDATE_DOCS=1 cargo test -p blackstart docs`"
    );

    let mut ids: Vec<_> = codes.iter().map(|code| code["code"].as_str().unwrap()).collect();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id is used twice");
}

/// Everything below this line is made from the registry of checks; what is above is written by hand.
const MADE: &str = "<!-- made from the program's own list: UPDATE_DOCS=1 cargo test -p blackstart docs -->\n";

#[test]
fn docs_list_every_cause() {
    let json = |arguments: &[&str]| -> Vec<serde_json::Value> {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_blackstart")).args(arguments).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let codes = json(&["explain", "-o", "json"]);
    let mut made = String::from("| check | code | what it means | what to do |\n|---|---|---|---|\n");
    for check in json(&["diagnose", "--list", "-o", "json"]) {
        let mut name = format!("`{}`: {}", check["name"].as_str().unwrap(), check["about"].as_str().unwrap());
        for id in check["codes"].as_array().unwrap() {
            let code = codes.iter().find(|code| code["code"] == *id).unwrap_or_else(|| panic!("{id} is no code"));
            let cell = |name: &str| code[name].as_str().expect("a text").replace('|', "\\|");
            made += &format!("| {name} | `{}` | {} | {} |\n", cell("code"), cell("meaning"), cell("fix"));
            name.clear();
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/troubleshooting.md");
    let page = fs::read_to_string(&path).unwrap();
    let (by_hand, found) = page.split_once(MADE).expect("the line below which the page is made");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{by_hand}{MADE}{made}")).unwrap();
    } else {
        assert_eq!(found, made, "run `UPDATE_DOCS=1 cargo test -p blackstart docs`");
    }
    let checks = codes.iter().filter(|code| code["code"].as_str().unwrap().starts_with("BS-DIAG-"));
    for code in checks {
        assert!(made.contains(code["code"].as_str().unwrap()), "no check answers with {code}");
    }
}

/// A worked example: its heading, and what it is known by in the code.
const EXAMPLES: [(&str, &str); 3] = [
    ("## Add a step\n", r"\b(node_role|NodeRole|NODE_ROLE)\b"),
    ("## Add a check of a machine\n", r#"\bmod swap;|\bswap::CHECK\b|Check::new\("swap""#),
    ("## Add a sub-command\n", r"\b(SchemaFile|Command::Schema|schema::run)\b"),
];

#[test]
fn docs_show_code_as_it_is() {
    let path = root().join("docs/development.md");
    let mut page = fs::read_to_string(&path).unwrap();
    for (heading, known_by) in EXAMPLES {
        let section = page.split(heading).nth(1).unwrap_or_else(|| panic!("no `{heading}`"));
        let section = section.split("\n## ").next().unwrap().to_owned();
        let files = files(&section);
        assert_eq!(files, files_with(&Regex::new(known_by).unwrap()), "{heading}");
        let count = ["No", "One", "Two", "Three", "Four", "Five"][files.len()];
        assert!(section.trim_start().starts_with(&format!("{count} files: ")), "{heading} {count} files: {files:?}");
        for (file, block) in blocks(&section) {
            let source = fs::read_to_string(root().join(&file)).unwrap();
            if !block.starts_with("//!") {
                assert!(has_lines(&source, &block), "{file} does not have, in this order:\n{block}");
            } else if std::env::var_os("UPDATE_DOCS").is_some() {
                page = page.replace(&indented(&block), &indented(&source));
            } else {
                assert_eq!(block, source, "{file}; run `UPDATE_DOCS=1 cargo test -p blackstart docs`");
            }
        }
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, page).unwrap();
    }
}

#[test]
fn an_example_that_is_not_the_code_is_found() {
    let section = "\n1. `a.rs` is it:\n\n   ```rust\n   //! One.\n\n   fn a() {\n   }\n   ```\n\n2. `b.rs` too\n";
    assert_eq!(files(section), ["a.rs", "b.rs"].map(String::from).into());
    assert_eq!(blocks(section), [("a.rs".to_owned(), "//! One.\n\nfn a() {\n}\n".to_owned())]);
    for (excerpt, is_there) in
        [("mod a;\nmod c;\n", true), ("    mod b;\n", true), ("mod c;\nmod a;\n", false), ("mod d;\n", false)]
    {
        assert_eq!(has_lines("mod a;\nmod b;\nmod c;\n", excerpt), is_there, "{excerpt}");
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// The file of a line of the numbered list.
fn numbered(line: &str) -> Option<&str> {
    let (number, rest) = line.split_once(". `")?;
    number.parse::<usize>().ok().and(rest.split('`').next())
}

fn files(section: &str) -> BTreeSet<String> {
    section.lines().filter_map(numbered).map(ToOwned::to_owned).collect()
}

/// The blocks of Rust, each with the file that it belongs to.
fn blocks(section: &str) -> Vec<(String, String)> {
    let (mut file, mut blocks, mut block) = ("", Vec::new(), None);
    for line in section.lines() {
        file = numbered(line).unwrap_or(file);
        match (line.trim(), &mut block) {
            ("```rust", None) => block = Some(String::new()),
            ("```", Some(_)) => blocks.extend(block.take().map(|text| (file.to_owned(), text))),
            (_, Some(text)) => *text += &format!("{}\n", line.strip_prefix("   ").unwrap_or(line)),
            (_, None) => {}
        }
    }
    blocks
}

/// As a block stands in a list.
fn indented(block: &str) -> String {
    block.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("   {line}\n") }).collect()
}

/// Whether the excerpt's lines are lines of the source, in this order.
fn has_lines(source: &str, excerpt: &str) -> bool {
    let mut lines = source.lines().map(str::trim);
    excerpt.lines().all(|line| lines.any(|found| found == line.trim()))
}

/// The files in which something is found, apart from the tests of crates.
fn files_with(pattern: &Regex) -> BTreeSet<String> {
    let mut dirs: Vec<PathBuf> = ["tests", "xtask"].map(|dir| root().join(dir)).into();
    dirs.extend(fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path().join("src")));
    let mut found = BTreeSet::new();
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs")
                && pattern.is_match(&fs::read_to_string(&path).unwrap())
            {
                found.insert(path.strip_prefix(root()).unwrap().display().to_string());
            }
        }
    }
    found
}
