//! Bad configs, each with what is reported of it.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use base64::{Engine, engine::general_purpose::STANDARD};
use ignition::{codes, report, validate};
use jiff::Timestamp;
use rcgen::{CertificateParams, KeyPair};

fn now() -> Timestamp {
    "2026-06-01T12:00:00Z".parse().unwrap()
}

fn certificate(from: i32, to: i32) -> String {
    let mut params = CertificateParams::new(vec!["test".to_owned()]).unwrap();
    params.not_before = rcgen::date_time_ymd(from, 1, 1);
    params.not_after = rcgen::date_time_ymd(to, 1, 1);
    params.self_signed(&KeyPair::generate().unwrap()).unwrap().pem()
}

fn inside(text: &str) -> String {
    format!("data:;base64,{}", STANDARD.encode(text))
}

/// A config with these files, each written on its own line.
fn with_files(files: &[&str]) -> String {
    format!(
        "{{\n  \"ignition\": {{ \"version\": \"3.2.0\" }},\n  \"storage\": {{ \"files\": [\n    {}\n  ] }}\n}}\n",
        files.join(",\n    ")
    )
}

fn file(mode: u32, contents: &str) -> String {
    let source = inside(contents);
    format!(r#"{{ "path": "/etc/a", "overwrite": true, "mode": {mode}, "contents": {{ "source": "{source}" }} }}"#)
}

fn record(until: &str) -> String {
    let text =
        format!(r#"{{"id":"0","cluster":"c","node":"n","renderedAt":"2026-01-01T00:00:00Z","validUntil":{until}}}"#);
    file(420, &text).replace("/etc/a", "/etc/blackstart/ignition.json")
}

fn bad() -> Vec<(&'static str, String)> {
    let key = "-----BEGIN PRIVATE KEY-----\n";
    let plain = r#"{ "path": "/etc/a", "overwrite": true, "contents": { "source": "data:,a%20b" } }"#;
    let merge = |source: &str, rest: &str| {
        format!(r#"{{"ignition":{{"version":"3.2.0","config":{{"merge":[{{"source":"{source}"{rest}}}]}}}}}}"#)
    };
    vec![
        ("002 no JSON", "{\n  \"ignition\": {,\n}".into()),
        ("002 nothing", String::new()),
        ("002 two values", "{} {}".into()),
        ("003 no version", "{ }".into()),
        ("003 a newer version", "{\n  \"ignition\": { \"version\": \"3.6.0\" }\n}".into()),
        (
            "004 a misspelt key",
            with_files(&[&plain
                .replace("overwrite", "overwite")
                .replace("\"contents\"", "\"overwrite\": true, \"contents\"")]),
        ),
        ("004 a key of a newer version", r#"{"ignition":{"version":"3.2.0"},"kernelArguments":{}}"#.into()),
        ("005 a list instead of an object", r#"{"ignition":{"version":"3.2.0"},"storage":[]}"#.into()),
        ("005 a mode in quotes", with_files(&[&plain.replace("\"overwrite\"", "\"mode\": \"0600\", \"overwrite\"")])),
        ("005 half a mode", with_files(&[&plain.replace("\"overwrite\"", "\"mode\": 0.5, \"overwrite\"")])),
        ("005 a file without a path", with_files(&[r#"{ "overwrite": true }"#])),
        ("006 the same path twice", with_files(&[plain, plain])),
        ("006 the same key twice", r#"{"ignition":{"version":"3.2.0","version":"3.2.0"}}"#.into()),
        (
            "006 the same unit twice",
            r#"{"ignition":{"version":"3.2.0"},"systemd":{"units":[{"name":"a.service"},{"name":"a.service"}]}}"#
                .into(),
        ),
        ("007 a key for everybody", with_files(&[&file(0o644, key)])),
        ("007 a key for the group", with_files(&[&file(0o640, key)])),
        ("007 a key without a mode", with_files(&[&file(0, key).replace("\"mode\": 0, ", "")])),
        (
            "007 a secret by its name",
            with_files(&[&file(0o644, "x").replace("/etc/a", "/etc/cluster-config/join-secret")]),
        ),
        ("008 not overwritten", with_files(&[&plain.replace("true", "false")])),
        ("008 a link", r#"{"ignition":{"version":"3.2.0"},"storage":{"links":[{"path":"/a","target":"b"}]}}"#.into()),
        ("009 expired", with_files(&[&file(0o644, &certificate(2020, 2021))])),
        ("009 not yet valid", with_files(&[&file(0o644, &certificate(2040, 2041))])),
        ("009 expired in a kubeconfig", {
            let inner = STANDARD.encode(certificate(2020, 2021));
            with_files(&[&file(0o600, &format!("user:\n    client-certificate-data: {inner}\n"))])
        }),
        ("010 too old", with_files(&[&record("\"2026-05-31T00:00:00Z\"")])),
        ("011 a program", with_files(&[&file(0o755, &"x".repeat((1 << 20) + 1))])),
        ("012 broken base64", with_files(&[&plain.replace("data:,a%20b", "data:;base64,?")])),
        ("012 half an escape", with_files(&[&plain.replace("a%20b", "a%2")])),
        ("012 no comma", with_files(&[&plain.replace("data:,a%20b", "data:a")])),
        ("013 a relative path", with_files(&[&plain.replace("/etc/a", "etc/a")])),
        ("013 upwards", with_files(&[&plain.replace("/etc/a", "/etc/../a")])),
        ("014 fetched in the open", merge("http://10.0.0.9/config/a", r#","verification":{"hash":"sha512-00"}"#)),
        ("014 fetched without a sum", merge("https://10.0.0.9/config/a", "")),
    ]
}

#[test]
fn every_bad_config_is_refused_with_its_code() {
    let mut all = String::new();
    for (name, text) in bad() {
        let problems = validate("bad.ign", text.as_bytes(), now());
        let expected = format!("BS-IGN-{}", &name[..3]);
        assert!(!problems.is_empty(), "{name} has no problem");
        let codes: Vec<&str> = problems.iter().map(|problem| problem.diagnostic.code.id).collect();
        assert!(codes.iter().all(|code| *code == expected), "{name}: {}", report(&problems));
        all += &format!("## {name}\n{}\n", report(&problems));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn every_code_of_a_file_has_a_bad_config() {
    let elsewhere = [codes::UNREADABLE];
    let names: Vec<&str> = bad().iter().map(|(name, _)| *name).collect();
    for code in codes::ALL.iter().filter(|code| code.id < "BS-IGN-020" && !elsewhere.contains(code)) {
        let number = code.id.trim_start_matches("BS-IGN-");
        assert!(names.iter().any(|name| name.starts_with(number)), "no bad config for {code}");
    }
}

#[test]
fn what_is_too_large_is_not_read() {
    let problems = validate("large.ign", &vec![b' '; ignition::MAX_BYTES + 1], now());
    assert_eq!(problems.iter().map(|problem| problem.diagnostic.code).collect::<Vec<_>>(), [codes::TOO_LARGE]);
}

#[test]
fn what_is_fine_is_not_refused() {
    for text in [
        with_files(&[&file(0o644, &certificate(2020, 2040))]),
        with_files(&[&file(0o600, "-----BEGIN PRIVATE KEY-----\n")]),
        with_files(&[&file(0o400, "client-key-data: x")]),
        with_files(&[&record("\"2026-07-01T00:00:00Z\"")]),
        with_files(&[&record("null")]),
        r#"{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/a","append":[{"source":"data:,x"}]}]}}"#.into(),
        "\u{20}{\"ignition\": {\"version\": \"3.2.0\", \"proxy\": null}, \"passwd\": {\"users\": [{\"name\": \"\\u0061\\\"b\"}]}}".into(),
    ] {
        let problems = validate("good.ign", text.as_bytes(), now());
        assert!(problems.is_empty(), "{}", report(&problems));
    }
}

/// Several problems, in reading order, counted in characters.
#[test]
fn places_are_lines_and_characters() {
    let text = "{\n  \"ignition\": { \"version\": \"3.2.0\" },\n  \"ümläut\": 1, \"stroage\": {}\n}\n";
    let problems = validate("a.ign", text.as_bytes(), now());
    let positions: Vec<_> =
        problems.iter().map(|problem| (problem.line, problem.column, problem.diagnostic.hint.as_str())).collect();
    assert_eq!(positions, [(3, 3, codes::UNUSED_KEY.fix), (3, 16, "did you mean `storage`?")]);
}
