//! The registry of the Secret and those of its pull secret answer, by a certificate that the node knows. Asked as the node will ask: by `curl`, with its CA
//! store and its proxy, and without a credential: 401 is an answer.

use std::collections::BTreeSet;

use checks::{Check, Checking, Finding, Inconclusive, Part};
use host::CommandError;
use serde::Deserialize;
use serde_json::{Map, Value};
use upgrades::names::key;

use super::command;
use crate::{codes, drivers::Subject};

/// See [`super`].
pub(super) const CHECK: Check<Subject> =
    Check::new("registry", "the registries of the Secret answer", &[codes::REGISTRY], check);

/// More are not asked.
const MOST: usize = 16;

/// `.dockerconfigjson`, of which only the names are read.
#[derive(Deserialize)]
struct Credentials {
    #[serde(default)]
    auths: Map<String, Value>,
}

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async {
        let secret = &subject.run.secret;
        let mut found = Vec::new();
        let mut hosts = BTreeSet::new();
        if let Some(name) = secret.get(key::REGISTRY) {
            match host_of(name) {
                Some(host) => drop(hosts.insert(host.to_owned())),
                None => found.extend(problem(format!("`{}` of the Secret is not HOST or HOST:PORT", key::REGISTRY))),
            }
        }
        if let Some(text) = secret.get(key::PULL_SECRET) {
            // No part of the text is shown: it is all secret.
            if let Ok(credentials) = serde_json::from_str::<Credentials>(text) {
                let known = credentials.auths.keys().filter_map(|name| host_of(name)).take(MOST);
                hosts.extend(known.map(str::to_owned));
            } else {
                let message = format!("`{}` of the Secret is not what `.dockerconfigjson` is", key::PULL_SECRET);
                found.extend(problem(message));
            }
        }
        let answers = futures::future::try_join_all(hosts.iter().map(|host| ask(subject, host))).await?;
        found.extend(answers.into_iter().flatten().flat_map(problem));
        Ok(found)
    })
}

/// What is wrong with a registry.
async fn ask(subject: &Subject, host: &str) -> Result<Option<String>, Inconclusive> {
    let url = format!("https://{host}/v2/");
    let options =
        ["--silent", "--show-error", "--max-time", "15", "--output", "/dev/null", "--write-out", "%{http_code}"];
    match subject.host.commands.run(&command("curl", options).arg(&url)).await {
        Ok(printed) if matches!(printed.stdout.trim(), "200" | "401") => Ok(None),
        Ok(printed) => Ok(Some(format!("{url} answers {}", explain::plain(printed.stdout.trim())))),
        Err(CommandError::Failed { output, .. }) => Ok(Some(format!("{url}: {}", explain::plain(&output)))),
        Err(error) => Err(error.into()),
    }
}

fn problem(message: String) -> Vec<Finding> {
    vec![Finding::cause(codes::REGISTRY, Part::Network, message)]
}

/// Of a name as credentials have it: `quay.io`, `registry:5000/project`, `https://index.docker.io/v1/`.
fn host_of(name: &str) -> Option<&str> {
    let bare = name.trim_start_matches("https://").trim_start_matches("http://");
    let host = bare.split('/').next().filter(|host| !host.is_empty())?;
    if matches!(host, "docker.io" | "index.docker.io") {
        return Some("registry-1.docker.io");
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    host.bytes().all(is_plain).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::testing::{Machine, run, with},
        *,
    };

    #[test]
    fn names_of_registries() {
        for (name, expected) in [
            ("quay.io", Some("quay.io")),
            ("registry:5000/project", Some("registry:5000")),
            ("https://index.docker.io/v1/", Some("registry-1.docker.io")),
            ("user@evil", None),
            ("", None),
        ] {
            assert_eq!(host_of(name), expected);
        }
    }

    #[tokio::test]
    async fn each_registry_must_answer() {
        let mut reported = Machine::default().checked(&CHECK, &run("a")).await;
        for (registry, secret, answer) in [
            ("", r#"{"auths": {"quay.io": {"auth": "aHVudGVyMg=="}}}"#, Ok("401")),
            ("", r#"{"auths": {"quay.io": {}, "quay.io/ours": {}, "r:5000": {}}}"#, Ok("503")),
            (
                "",
                r#"{"auths": {"quay.io": {}}}"#,
                Err("exit status: 60|curl: (60) SSL certificate problem: unable to get local issuer"),
            ),
            ("", "{}", Ok("200")),
            ("", "aHVudGVyMg==", Ok("200")),
            ("registry.example:5000", "", Ok("401")),
            ("registry.example:5000", "", Ok("404")),
            ("registry.example", r#"{"auths": {"quay.io": {}, "registry.example": {}}}"#, Ok("503")),
            ("a host", "aHVudGVyMg==", Ok("200")),
        ] {
            let machine = Machine::default().answering(move |_| answer.map(str::to_owned).map_err(str::to_owned));
            reported += &machine.checked(&CHECK, &with("a", &[("pull-secret", secret), ("registry", registry)])).await;
        }
        insta::assert_snapshot!(reported);
    }
}
