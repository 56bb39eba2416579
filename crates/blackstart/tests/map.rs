//! ARCHITECTURE.md says which crate knows which, and module headers say where to look: neither may lie.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper that fails is a test that fails")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use regex::Regex;

type Names = BTreeSet<String>;

/// What a line of the map allows a crate to depend on.
#[derive(Debug, PartialEq, Eq)]
enum Knows {
    /// These, and no others.
    Exactly(Names),
    /// Some of these.
    AtMost(Names),
}

#[test]
fn the_map_is_true() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let map = map(&page);
    let crates: Names = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let listed: Names = map.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(listed, crates, "the crates in the map, and those there are");
    let mut lies = Vec::new();
    for (at, (name, knows)) in map.iter().enumerate() {
        let depends = own_dependencies(name, &crates);
        let above: Names = map[..at].iter().map(|(name, _)| name.clone()).collect();
        lies.extend(
            depends.difference(&above).map(|below| format!("{name} depends on {below}, which is not above it")),
        );
        match knows {
            Knows::Exactly(reported) if *reported != depends => {
                lies.push(format!("{name} knows {depends:?}, not {reported:?}"));
            }
            Knows::AtMost(reported) if !depends.is_subset(reported) => lies.push(format!("{name} knows {depends:?}")),
            _ => {}
        }
    }
    assert!(lies.is_empty(), "{}", lies.join("\n"));
}

#[test]
fn the_map_is_read_as_it_is_meant() {
    let page =
        "crates/\n  a/ x  knows nothing else\n  b/ y knows of   knows a\n  c/ z  knows all of the above but a\n\n";
    let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<Names>();
    let expected = [
        ("a".to_owned(), Knows::Exactly(names(&[]))),
        ("b".to_owned(), Knows::Exactly(names(&["a"]))),
        ("c".to_owned(), Knows::AtMost(names(&["b"]))),
    ];
    assert_eq!(map(page), expected);
}

/// Paths in backticks in ARCHITECTURE.md, and files in the headers of modules.
#[test]
fn what_headers_refer_to_is_there() {
    let mut files = Vec::new();
    for dir in ["crates", "tests", "xtask", "docs", "infrastructure", "examples"] {
        add_files(&root().join(dir), &mut files);
    }
    let below: Vec<String> =
        files.iter().map(|path| format!("/{}", path.strip_prefix(root()).unwrap().display())).collect();
    let is_there = |named: &str| {
        let end = format!("/{}", named.trim_end_matches('/'));
        // `agent/src/shield` is a folder, or the file of a module.
        let is_path = |path: &String| path.ends_with(&end) || path.contains(&format!("{end}/"));
        below.iter().any(is_path)
    };
    let module = Regex::new(r"`([a-z_/-]+\.rs)`").unwrap();
    let path = Regex::new(r"`([a-z_-]+/[a-z_/.-]+)`").unwrap();
    let mut lost = Vec::new();
    let headers = files.iter().filter(|path| path.extension().is_some_and(|end| end == "rs")).map(|path| {
        let text = fs::read_to_string(path).unwrap();
        (path.clone(), text.lines().take_while(|line| line.starts_with("//!")).collect::<Vec<_>>().join("\n"))
    });
    let page = root().join("ARCHITECTURE.md");
    let page = (page.clone(), fs::read_to_string(&page).unwrap());
    for (pattern, texts) in [(&module, headers.collect::<Vec<_>>()), (&path, vec![page])] {
        for (place, text) in texts {
            let named = pattern.captures_iter(&text).map(|found| found[1].to_owned());
            let gone = named.filter(|named| !is_there(named));
            lost.extend(gone.map(|named| format!("{}: `{named}`", place.strip_prefix(root()).unwrap().display())));
        }
    }
    assert!(lost.is_empty(), "not there:\n{}", lost.join("\n"));
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// The crates of the map with what they may know, from the top.
fn map(page: &str) -> Vec<(String, Knows)> {
    let block = page.split_once("crates/\n").unwrap().1;
    let lines = block.lines().take_while(|line| line.starts_with("  "));
    let mut map: Vec<(String, Knows)> = Vec::new();
    for line in lines {
        let name = line.trim_start().split_once('/').unwrap().0.to_owned();
        let above: Names = map.iter().map(|(name, _)| name.clone()).collect();
        let reported = line.rsplit_once("  knows ").unwrap_or_else(|| panic!("`{name}` knows nothing")).1;
        let list = |text: &str| text.split(", ").map(str::to_owned).collect::<Names>();
        let knows = match reported.strip_prefix("all of the above") {
            None if reported == "nothing else" => Knows::Exactly(Names::new()),
            None => Knows::Exactly(list(reported)),
            Some("") => Knows::AtMost(above),
            Some(but) => Knows::AtMost(above.difference(&list(but.trim_start_matches(" but "))).cloned().collect()),
        };
        map.push((name, knows));
    }
    map
}

/// The crates of ours that a crate depends on, tests aside.
fn own_dependencies(name: &str, crates: &Names) -> Names {
    let text = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
    let sections: BTreeMap<&str, &str> = text.split("\n[").filter_map(|section| section.split_once("]\n")).collect();
    let lines = sections.get("dependencies").copied().unwrap_or_default().lines();
    let names = lines.filter_map(|line| line.split(['.', ' ', '=']).next());
    names.filter(|name| crates.contains(*name)).map(str::to_owned).collect()
}

fn add_files(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { add_files(&path, files) } else { files.push(path) }
    }
}
