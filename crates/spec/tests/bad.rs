//! Bad descriptions: each file or directory in tests/bad holds one kind of mistake.
//!
//! The name begins with the number of the code that is expected, for every problem that is found; `many-…` hold
//! several. To add one: put it there, run the test with `INSTA_UPDATE=always`, and read the snapshot.

#![expect(clippy::unwrap_used, reason = "a failing unwrap in a test is the failure we want to see")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use spec::{Severity, Sources, check, check_dir, codes, report, schema};

/// What a schema can see; the other codes are about values in relation to each other or about the text itself.
const STRUCTURAL: &[explain::Code] = &[
    codes::UNKNOWN_KEY,
    codes::MISSING_KEY,
    codes::NO_VALUE,
    codes::WRONG_TYPE,
    codes::OUT_OF_RANGE,
    codes::UNKNOWN_ROLE,
    codes::UNKNOWN_CHOICE,
    codes::NO_NODES,
    codes::BAD_NAME,
    codes::BAD_MAC,
    codes::BAD_TOKEN,
    codes::BAD_VERSION,
    codes::UNSUPPORTED_VERSION,
    codes::BAD_ENDPOINT,
    codes::BAD_SIZE,
];

/// Where only the relation to other values or to a list of special ones makes the value wrong.
const BEYOND_A_PATTERN: &[&str] = &[
    "015-switch-is-yes",
    "016-memory-target-too-small",
    "016-osd-file-too-small",
    "016-prefix-too-long-for-ipv4",
    "017-address-as-name",
    "021-broadcast-mac",
    "021-zero-mac",
    "021-multicast-mac",
];

fn bad() -> Vec<(String, PathBuf)> {
    let mut inputs: Vec<(String, PathBuf)> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path))
        .collect();
    inputs.sort();
    inputs
}

fn checked(path: &Path) -> spec::Checked {
    if path.is_dir() {
        check_dir(path)
    } else {
        let text = fs::read_to_string(path).unwrap();
        check(&Sources::cluster(text))
    }
}

#[test]
fn every_bad_input_yields_the_expected_problem() {
    let inputs = bad();
    assert!(inputs.len() >= 45);
    let here = format!("{}/", env!("CARGO_MANIFEST_DIR"));
    let mut surprises = Vec::new();
    for (name, path) in inputs {
        let checked = checked(&path);
        assert!(!checked.problems.is_empty(), "{name} has no problem");
        if !name.starts_with("many-") {
            let expected = format!("BS-SPEC-{}", &name[..3]);
            if checked.problems.iter().any(|problem| problem.diagnostic.code.id != expected) {
                surprises.push(format!("{name}:\n{}", report(&checked.problems, false)));
            }
        }
        let has_error = checked.problems.iter().any(|problem| problem.severity == Severity::Error);
        assert_eq!(checked.cluster.is_none(), has_error, "{name}");
        let report = report(&checked.problems, false).replace(&here, "");
        insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "bad-snapshots" }, {
            insta::assert_snapshot!(name, report);
        });
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[test]
fn every_code_has_a_bad_input() {
    // Made by tests/hostile.rs, because such files do not belong into a repository.
    let elsewhere = [codes::TOO_LARGE, codes::NOT_UTF8, codes::TOO_MANY];
    let names: Vec<String> = bad().into_iter().map(|(name, _)| name).collect();
    for code in codes::ALL.iter().filter(|code| !elsewhere.contains(code)) {
        let number = code.id.trim_start_matches("BS-SPEC-");
        assert!(names.iter().any(|name| name.starts_with(number)), "no bad input for {}: {}", code.id, code.meaning);
    }
}

#[test]
fn the_schema_refuses_structural_mistakes() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let mut compared = 0;
    for (name, path) in bad().into_iter().filter(|(_, path)| path.is_file()) {
        let structural = STRUCTURAL.iter().any(|code| name.starts_with(code.id.trim_start_matches("BS-SPEC-")));
        if !structural || BEYOND_A_PATTERN.contains(&name.as_str()) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let value: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
        assert!(!validator.is_valid(&value), "{name} passes the schema");
        compared += 1;
    }
    assert!(compared >= 30, "only {compared} inputs compared");
}

#[test]
fn no_report_holds_a_secret() {
    for (name, path) in bad() {
        let checked = checked(&path);
        let shown = report(&checked.problems, false) + &serde_json::to_string(&checked).unwrap();
        for secret in
            ["hunter2", "swordfish", "0123456789abcdef", "7h3nd0s5jw9r4t1c", "7H3ND0S5JW9R4T1C", "0123456789012345"]
        {
            assert!(!shown.contains(secret), "{name} shows {secret}");
        }
    }
}
