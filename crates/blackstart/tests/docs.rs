//! The generated pages of the docs are those this program would write. `UPDATE_DOCS=1` writes them.

use std::{fs, path::Path};

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
fn troubleshooting_lists_every_cause() {
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
        assert!(made.contains(code["code"].as_str().unwrap()), "no look answers with {code}");
    }
}
