//! ARCHITECTURE.md says which crate knows which, and module headers say where to look: neither may lie.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper that fails is a test that fails")]

mod modules;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use modules::Modules;
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
        for (path, text) in texts {
            let named = pattern.captures_iter(&text).map(|found| found[1].to_owned());
            let gone = named.filter(|named| !is_there(named));
            lost.extend(gone.map(|named| format!("{}: `{named}`", path.strip_prefix(root()).unwrap().display())));
        }
    }
    assert!(lost.is_empty(), "not there:\n{}", lost.join("\n"));
}

/// A crate that grows beyond this has become several.
const MOST_LINES: usize = 12_000;

#[test]
fn no_crate_is_too_large() {
    for source in sources() {
        let lines = source.values().map(|text| production(text).count()).sum::<usize>();
        assert!(lines <= MOST_LINES, "{:?}: {lines} lines outside of tests", source.keys().next());
    }
}

/// Circles of modules that there are still, small ones. None may come to them; one that is broken goes from here.
const CIRCLES: &[&str] = &[
    // The context keeps each view of the node that was read, and reading one asks the context for others.
    "diagnose/context, view",
    // An event that is being sent is remembered, and sending looks at what is remembered.
    "upgrades/controller/memory, reporting",
    // The types of one API object, which hold each other.
    "upgrades/object, order, progress, report",
];

/// The modules of a crate are in an order as the crates are: what two of them need is in a third.
#[test]
fn no_modules_go_in_circles() {
    let mut circles = Vec::new();
    for source in sources() {
        let (root, _) = source.iter().find(|(path, _)| path.ends_with("src/lib.rs")).unwrap();
        let root = root.parent().unwrap();
        let of_library = source.iter().filter(|(path, _)| !path.ends_with("src/main.rs"));
        let texts = of_library.map(|(path, text)| {
            let code = production(text).map(|line| line.to_owned() + "\n").collect::<String>();
            (route(path.strip_prefix(root).unwrap()), code)
        });
        let name = root.parent().unwrap().file_name().unwrap().to_str().unwrap();
        circles.extend(Modules::read(&texts.collect()).circles().iter().map(|circle| format!("{name}/{circle}")));
    }
    circles.sort();
    assert_eq!(circles, CIRCLES, "a circle was made, or broken: left are those there are");
}

/// The modules that lead to a file.
fn route(path: &Path) -> Vec<String> {
    let names = path.with_extension("");
    let mut names: Vec<String> = names.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
    names.pop_if(|name| ["mod", "lib"].contains(&name.as_str()));
    names
}

/// As kubeadm's list of phases: one reads it at once.
#[test]
fn the_bootstrap_of_a_role_reads_on_one_screen() {
    let list = fs::read_to_string(root().join("crates/playbooks/src/cluster/mod.rs")).unwrap();
    for role in ["master", "worker"] {
        let (_, body) = list.split_once(&format!("\nfn {role}<'a>(")).unwrap();
        let lines = body.split("\n}\n").next().unwrap().lines().count() + 1;
        assert!(lines <= 45, "{role}: {lines} lines");
    }
}

/// The sources of each crate that are not only for tests.
fn sources() -> Vec<BTreeMap<PathBuf, String>> {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| {
        let mut files = Vec::new();
        add_files(&entry.unwrap().path().join("src"), &mut files);
        let sources = files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "rs"));
        let mut sources: BTreeMap<PathBuf, String> =
            sources.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect();
        let tests: Vec<PathBuf> = sources.iter().flat_map(|(path, text)| test_modules(path, text)).collect();
        sources.retain(|path, _| {
            !tests.iter().any(|module| path.starts_with(module) || *path == module.with_extension("rs"))
        });
        sources
    });
    crates.collect()
}

/// A module in a file of its own that only tests have.
static DECLARED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"#\[cfg\(test\)\]\s+(?:pub(?:\([a-z: ]+\))? )?mod (\w+);").unwrap());

/// Modules in files of their own that only tests have, without their ending.
fn test_modules(path: &Path, text: &str) -> Vec<PathBuf> {
    let is_root = path.file_stem().is_some_and(|name| ["mod", "lib", "main"].iter().any(|root| name == *root));
    let dir = if is_root { path.parent().unwrap().to_path_buf() } else { path.with_extension("") };
    DECLARED.captures_iter(text).map(|found| dir.join(&found[1])).collect()
}

/// Lines that are not of an item for tests. An item ends where its indentation does, as rustfmt leaves it.
fn production(text: &str) -> impl Iterator<Item = &str> {
    let mut end = None;
    text.lines().filter(move |line| {
        let indent = line.len() - line.trim_start().len();
        match end {
            None if line.trim() == "#[cfg(test)]" => end = Some(indent),
            None => return true,
            Some(at) if indent == at && (line.ends_with('}') || line.ends_with(';')) => end = None,
            Some(_) => {}
        }
        false
    })
}

#[test]
fn lines_of_tests_are_not_counted() {
    let text = "//! a\n#[cfg(test)]\nmod testing;\nfn a() {\n}\n\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {}\n";
    assert_eq!(production(text).count(), 5);
    let modules = test_modules(Path::new("src/a.rs"), "#[cfg(test)]\npub(super) mod samples;\nmod b;\n");
    assert_eq!(modules, [Path::new("src/a/samples")]);
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
