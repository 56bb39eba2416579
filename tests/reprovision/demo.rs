//! The guide's demo, as a reader types it, in a lab of its own.

use std::{fs, process::Command};

use crate::support::TestLab;

const GUIDE: &str = include_str!("../../docs/guide/reprovision.md");

/// The guide's words mean the program under test and a lab of its own.
const WORDS: &str = r#"set -euo pipefail
blackstart() {
  if [ "$1" != lab ]; then "$PROGRAM" "$@"; return; fi
  local command=$2; shift 2
  "$PROGRAM" lab "$command" --name "$LAB" "$@"
}
"#;

/// What the section has behind prompts, with the lines that follow each.
fn typed() -> String {
    let section = GUIDE.split("\n## Try it in the lab\n").nth(1).expect("the guide has a demo");
    let block = section.split("```").nth(1).and_then(|block| block.strip_prefix("console\n")).expect("it is typed");
    block.lines().map(|line| format!("{}\n", line.strip_prefix("# ").unwrap_or(line))).collect()
}

/// Types it, and returns what it printed.
pub(crate) fn play() -> String {
    let lab = TestLab::unmade();
    let dir = std::env::temp_dir().join(format!("blackstart-demo-{}", lab.name));
    fs::create_dir_all(&dir).unwrap();
    let script = dir.join("demo");
    fs::write(&script, format!("{WORDS}{}", typed())).unwrap();
    let mut command = Command::new("bash");
    command.arg(&script).current_dir(&dir).env("PROGRAM", crate::support::PROGRAM).env("LAB", &lab.name);
    let output = command.env_remove("CONFIG_DIR").stdin(std::process::Stdio::null()).output().unwrap();
    fs::remove_dir_all(&dir).unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    out.into_owned()
}
