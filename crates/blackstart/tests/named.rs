//! What docs and codes advise to type exists: every command, flag and key they name.
//!
//! ```text
//! README, docs/**/*.md ─┬─ lines of `console` blocks that begin with a prompt ─► parsed by the program's own command line
//! hints of codes        ├─ `blackstart …` and `lab up …` in backticks         ─► the same, but they may be incomplete
//!                       ├─ `--flag` in backticks                              ─► a flag of some command
//!                       └─ `cluster.x.y`, `nodes[].x`                         ─► a path in the JSON Schema
//! ```

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use ::blackstart::cli::Cli;
use clap::{Command, CommandFactory, error::ErrorKind};
use regex::Regex;
use serde_json::Value;

/// Groups of ours that are also programs of others: `ceph df` is not meant for us.
const PROGRAMS: [&str; 2] = ["ceph", "etcd"];

/// Pages that describe what commands print, with keys of their own.
const OTHER_KEYS: [&str; 2] = ["docs/reference/node-status.md", "docs/reference/watch.md"];

/// A place, and the text that is there.
type Piece = (String, String);

#[test]
fn commands_that_are_named_exist() {
    let mut wrong: Vec<String> = Vec::new();
    for (location, text) in pages() {
        for line in typed(&text) {
            wrong.extend(refusal(&line, is_refused).map(|why| format!("{location}: `{line}`: {why}")));
        }
    }
    for (location, snippet) in snippets().into_iter().chain(of_sources()) {
        let Some(line) = our_command(first_of_pipe(&snippet)) else { continue };
        wrong.extend(refusal(&line, is_unknown).map(|why| format!("{location}: `{snippet}`: {why}")));
    }
    assert!(wrong.is_empty(), "{} do not exist:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn flags_that_are_named_exist() {
    let mut flags = BTreeSet::new();
    add_flags(&mut flags, program());
    let flag = Regex::new("--[a-z]+").unwrap();
    for program in ["xtask/src/main.rs", "crates/bundle/examples/make.rs"] {
        let source = fs::read_to_string(root().join(program)).unwrap();
        flags.extend(flag.find_iter(&source).map(|flag| flag.as_str().to_owned()));
    }
    let is_flag = Regex::new("^(--[a-z][-a-z]*)([ =].*)?$").unwrap();
    let unknown = |snippet: &str| is_flag.captures(snippet).is_some_and(|found| !flags.contains(&found[1]));
    let wrong: Vec<String> = snippets()
        .into_iter()
        .filter(|(_, snippet)| unknown(snippet))
        .map(|(location, snippet)| format!("{location}: `{snippet}`"))
        .collect();
    assert!(wrong.is_empty(), "{} do not exist:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn keys_that_are_named_exist() {
    let (schema, of_node) = (spec::schema(), spec::node_schema());
    let is_key = Regex::new(r"^[a-z_]+(\[\])?(\.[a-z_]+(\[\])?)+$").unwrap();
    let mut wrong = Vec::new();
    for (location, snippet) in snippets().into_iter().filter(|(location, _)| !OTHER_KEYS.contains(&location.as_str())) {
        let key = snippet.split([':', ' ', '=']).next().unwrap_or_default();
        let first = key.split(['.', '[']).next().unwrap_or_default();
        // What begins with a key of ours is meant to be one; `cluster.yaml` and the like are files.
        let settings = &schema["properties"];
        let roots = [&schema, &settings["cluster"], &settings["nodes"]["items"], &of_node];
        let begins = |root: &&&Value| root["properties"].get(first).is_some();
        let is_file = [".yaml", ".json", ".conf", ".key", ".local"].iter().any(|end| key.ends_with(end));
        if !is_key.is_match(key) || is_file || !roots.iter().any(|root| begins(&root)) {
            continue;
        }
        if !roots.iter().any(|root| has_key(root, key)) {
            wrong.push(format!("{location}: `{snippet}`"));
        }
    }
    assert!(wrong.is_empty(), "{} do not exist:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_does_not_exist_is_found() {
    for (snippet, is_found) in [
        ("blackstart lab up --ceph", false),
        ("blackstart lab up --cephh", true),
        ("blackstart node drain", true),
        ("lab heal", false),
        ("lab repair", true),
        ("lab exec master-01 -- kubectl get nodes --watch", false),
        ("blackstart node remove NAME", false),
        ("kubectl get nodes", false),
        ("blackstart reprovision manifests | kubectl apply -f -", false),
        (r"blackstart reprovision manifest \| kubectl apply -f -", true),
    ] {
        let refused = our_command(first_of_pipe(snippet)).and_then(|line| refusal(&line, is_unknown));
        assert_eq!(refused.is_some(), is_found, "{snippet}: {refused:?}");
    }
    for (key, is_there) in [
        ("cluster.networking.dns", true),
        ("cluster.networking.dns_servers", false),
        ("nodes[].roles", true),
        ("nodes[].role", false),
    ] {
        assert_eq!(has_key(&spec::schema(), key), is_there, "{key}");
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// The command line, made once.
fn program() -> &'static Command {
    static PROGRAM: OnceLock<Command> = OnceLock::new();
    PROGRAM.get_or_init(Cli::command)
}

/// README and everything in docs.
fn pages() -> Vec<Piece> {
    let root = root();
    let mut paths: Vec<PathBuf> = ["README.md", "SECURITY.md", "ARCHITECTURE.md"].map(|name| root.join(name)).into();
    add_files(&root.join("docs"), "md", &mut paths);
    paths.sort();
    paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// What stands in backticks in the pages, and in what the codes say. The page of codes is made from the latter.
fn snippets() -> Vec<Piece> {
    let output =
        std::process::Command::new(env!("CARGO_BIN_EXE_blackstart")).args(["explain", "-o", "json"]).output().unwrap();
    let codes: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let text = |code: &Value, name: &str| code[name].as_str().unwrap().to_owned();
    let of_codes = codes.iter().flat_map(|code| ["meaning", "fix"].map(|part| (text(code, "code"), text(code, part))));
    let pages = pages().into_iter().filter(|(name, _)| !name.ends_with("codes.md"));
    let quoted = Regex::new("`([^`\n]+)`").unwrap();
    let inline = pages.map(|(location, text)| (location, without_blocks(&text))).chain(of_codes);
    inline
        .flat_map(|(location, text)| {
            let found: Vec<Piece> =
                quoted.captures_iter(&text).map(|all| (location.clone(), all[1].to_owned())).collect();
            found
        })
        .collect()
}

/// Commands in the sources: what messages and hints say, and what comments refer to.
fn of_sources() -> Vec<Piece> {
    let quoted = Regex::new("`(blackstart [^`\n]+)`").unwrap();
    let mut files = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        add_files(&entry.unwrap().path().join("src"), "rs", &mut files);
    }
    let found = files.iter().flat_map(|path| {
        let (location, text) = (name(path), fs::read_to_string(path).unwrap());
        let all: Vec<Piece> = quoted.captures_iter(&text).map(|all| (location.clone(), all[1].to_owned())).collect();
        all
    });
    found.collect()
}

fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

fn add_files(dir: &Path, end: &str, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.extension() {
            _ if path.is_dir() => add_files(&path, end, files),
            Some(found) if found == end => files.push(path),
            _ => {}
        }
    }
}

/// A page without its blocks of code.
fn without_blocks(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// The commands of ours that a page shows with a prompt.
fn typed(text: &str) -> Vec<String> {
    let blocks = text.split("```").skip(1).step_by(2).filter(|block| block.starts_with("console"));
    let lines = blocks.flat_map(str::lines).map(str::trim_start);
    let typed = lines.filter_map(|line| line.strip_prefix("$ ").or_else(|| line.strip_prefix("# ")));
    typed.flat_map(|line| line.split(['|', ';', '&'])).filter_map(our_command).collect()
}

/// What is before the first `|`, which in a table is `\|`.
fn first_of_pipe(snippet: &str) -> &str {
    snippet.split('|').next().unwrap_or_default().trim_end_matches('\\')
}

/// A command line of this program, without what the shell takes from it. `lab up` stands for `blackstart lab up`.
fn our_command(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches("sudo ").replace("cargo run -- ", "blackstart ");
    let (first, rest) = text.split_once(' ')?;
    let mut groups = program().get_subcommands().filter(|command| command.has_subcommands());
    let is_group = !PROGRAMS.contains(&first) && groups.any(|command| command.get_name() == first);
    let line = if first == "blackstart" {
        rest.to_owned()
    } else if is_group && rest.starts_with(|letter: char| letter.is_ascii_lowercase()) {
        text.clone()
    } else {
        return None;
    };
    let comment = Regex::new(r" +(#|<|>|2>).*$").unwrap();
    Some(comment.replace(&line, "").trim().to_owned())
}

/// What the program says about a command line that it refuses.
fn refusal(line: &str, is_wrong: fn(ErrorKind) -> bool) -> Option<String> {
    // What is left out is nothing to complain about.
    let words = line.split_whitespace().take_while(|word| !word.contains('…') && !word.contains("..."));
    let words: Vec<&str> = words.map(|word| word.trim_matches(['\'', '"', ','])).collect();
    let error = program().clone().try_get_matches_from([&["blackstart"], &words[..]].concat()).err()?;
    is_wrong(error.kind()).then(|| error.to_string().lines().next().unwrap_or_default().to_owned())
}

/// Of a complete command line.
fn is_refused(kind: ErrorKind) -> bool {
    !matches!(kind, ErrorKind::DisplayHelp | ErrorKind::DisplayVersion)
}

/// Of one that is only named.
fn is_unknown(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand)
}

fn add_flags(flags: &mut BTreeSet<String>, command: &Command) {
    let long = command.get_arguments().filter_map(clap::Arg::get_long);
    flags.extend(long.chain(["help", "version"]).map(|name| format!("--{name}")));
    command.get_subcommands().for_each(|command| add_flags(flags, command));
}

/// Whether a path such as `cluster.networking.dns` or `nodes[].role` leads somewhere in the schema.
fn has_key(schema: &Value, path: &str) -> bool {
    let mut location = schema;
    for part in path.split('.') {
        let name = part.trim_end_matches("[]");
        let Some(inner) = location["properties"].get(name) else {
            return location["additionalProperties"].is_object();
        };
        location = if inner["items"].is_object() { &inner["items"] } else { inner };
    }
    true
}
