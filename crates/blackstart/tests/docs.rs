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
