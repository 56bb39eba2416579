//! Service account tokens in this node's pods, while the key that signs them is replaced.
//!
//! The kubelet keeps a token until four fifths of its life are over, in its memory too, whatever became of the key: only a
//! kubelet that starts again asks for new ones, and writes them into the volumes of its running pods. Which key has signed
//! a token is known by the `kid` in its header.

use std::path::{Path, PathBuf};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use host::{Cmd, Disk, HostError, Kind};
use serde_json::Value;

use super::restart::KUBELET;
use crate::{Agent, AgentError, ca::Reported, systemd};

const PODS: &str = "/var/lib/kubelet/pods";
const VOLUMES: &str = "volumes/kubernetes.io~projected";
/// What a volume holds at this moment; the kubelet replaces all of it at once by pointing this link elsewhere.
const CURRENT: &str = "..data";
/// More than any token has.
const LARGEST: u64 = 64 << 10;

/// Lets the kubelet ask for new tokens if there are any of another key, once for each key that is announced.
pub(super) async fn renew(agent: &Agent, reported: &Reported) -> Result<(), AgentError> {
    let pods = of_other_keys(agent, &reported.marks.tokens)?;
    if pods.is_empty() {
        return Ok(());
    }
    let units = systemd::units(agent, &[KUBELET]).await?;
    let started = units.get(KUBELET).and_then(|unit| unit.started);
    if started.is_some_and(|started| started < reported.since) {
        tracing::info!(pods = pods.len(), "restarting the kubelet: another key signs the tokens of its pods");
        agent.host.commands.run(&Cmd::new("systemctl").args(["restart", KUBELET])).await?;
    }
    Ok(())
}

/// The pods, by their UID, that have a token of this cluster which another key has signed.
pub(super) fn of_other_keys(agent: &Agent, key: &str) -> Result<Vec<String>, HostError> {
    let (disk, issuer) = (&*agent.host.disk, render::service_account_issuer(&agent.cluster));
    let mut found = Vec::new();
    for pod in list(disk, Path::new(PODS))? {
        let volumes = Path::new(PODS).join(&pod).join(VOLUMES);
        let mut files = Vec::new();
        for volume in list(disk, &volumes)? {
            below(disk, &volumes.join(volume).join(CURRENT), &mut files)?;
        }
        for file in files {
            let token = disk.read_optional(&file)?.unwrap_or_default();
            if signed_by(&String::from_utf8_lossy(&token), &issuer).is_some_and(|signer| signer != key) {
                found.push(pod);
                break;
            }
        }
    }
    Ok(found)
}

/// The `kid` of a token of this issuer; `None` for whatever else a pod is given, tokens of others among it.
fn signed_by(token: &str, issuer: &str) -> Option<String> {
    let [header, claims] = parts(token)?;
    let is_ours = claims["iss"] == issuer && claims.get("kubernetes.io").is_some();
    is_ours.then(|| header["kid"].as_str().unwrap_or_default().to_owned())
}

/// Which key has signed a token, by the `kid` that it says; `None` if it is no token. Nothing is verified.
pub fn key_of_token(token: &str) -> Option<String> {
    let [header, _] = parts(token)?;
    Some(header["kid"].as_str()?.to_owned())
}

/// Header and claims.
fn parts(token: &str) -> Option<[Value; 2]> {
    let mut parts = token.trim().split('.').map(|part| BASE64_URL_SAFE_NO_PAD.decode(part).ok());
    let (header, claims, _) = (parts.next()??, parts.next()??, parts.next()??);
    Some([serde_json::from_slice(&header).ok()?, serde_json::from_slice(&claims).ok()?])
}

fn below(disk: &dyn Disk, dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), HostError> {
    for name in list(disk, dir)? {
        let path = dir.join(name);
        match disk.meta(&path)? {
            Some(meta) if meta.kind == Kind::Directory => below(disk, &path, files)?,
            Some(meta) if meta.kind == Kind::File && meta.len <= LARGEST => files.push(path),
            _ => {}
        }
    }
    Ok(())
}

/// Pods come and go while they are looked at.
fn list(disk: &dyn Disk, dir: &Path) -> Result<Vec<String>, HostError> {
    match disk.list(dir) {
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        listed => listed,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use host::{Change, Content};
    use jiff::Timestamp;
    use join::Marks;
    use serde_json::json;

    use super::*;
    use crate::testing::{Scripted, agent};

    const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";
    fn shown() -> String {
        systemd::show(&["kubelet.service"]).to_string()
    }

    fn token(kid: &str, claims: &Value) -> String {
        let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        format!("{}.{}.{}", part(&json!({ "alg": "ES256", "kid": kid })), part(claims), "c2lnbmF0dXJl")
    }

    fn of_pod(kid: &str) -> String {
        token(kid, &json!({ "iss": ISSUER, "kubernetes.io": { "namespace": "default" } }))
    }

    #[test]
    fn only_tokens_of_this_cluster_are_looked_at() {
        let issued = |issuer: &str, claim: &str| token("old", &json!({ "iss": issuer, claim: {} }));
        for (text, expected) in [
            (of_pod("old"), Some("old")),
            (format!("{}\n", of_pod("new")), Some("new")),
            (token("", &json!({ "iss": ISSUER, "kubernetes.io": {} })), Some("")),
            (issued("https://accounts.example.org", "kubernetes.io"), None),
            (issued(ISSUER, "email"), None),
            (issued("kubernetes/serviceaccount", "kubernetes.io/serviceaccount/namespace"), None),
            ("-----BEGIN CERTIFICATE-----".to_owned(), None),
            ("default".to_owned(), None),
            ("a.b.c".to_owned(), None),
        ] {
            assert_eq!(signed_by(&text, ISSUER).as_deref(), expected, "{text}");
        }
    }

    #[tokio::test]
    async fn a_kubelet_that_is_older_than_the_announcement_is_restarted_if_a_pod_needs_it() {
        let commands = Arc::new(Scripted::default());
        let agent = agent("worker-01", &commands);
        commands.answer("systemctl restart kubelet.service", "");
        let write = |pod: &str, file: &str, text: &str| {
            let path = Path::new(PODS).join(pod).join(VOLUMES).join("kube-api-access/..data").join(file);
            Change::File { path, mode: 0o600, content: Content::Plain(text.into()) }.apply(&*agent.host.disk).unwrap();
        };
        let reported = Reported {
            marks: Marks { ca: "ca".into(), tokens: "new".into(), join: None },
            since: Timestamp::from_second(1000).unwrap(),
        };
        renew(&agent, &reported).await.unwrap();
        assert_eq!(commands.ran(), Vec::<String>::new(), "no pods at all");
        write("a", "token", &of_pod("new"));
        write("a", "ca.crt", "-----BEGIN CERTIFICATE-----");
        renew(&agent, &reported).await.unwrap();
        assert_eq!(commands.ran(), Vec::<String>::new(), "all are of the new key");
        write("b", "nested/token", &of_pod("old"));
        assert_eq!(of_other_keys(&agent, "new").unwrap(), ["b"]);
        for (started, restarts) in [(999, true), (1001, false)] {
            let since = Timestamp::from_second(started).unwrap().strftime("%a %Y-%m-%d %H:%M:%S.000000 UTC");
            let answer =
                format!("ExecMainStartTimestamp={since}\nId={KUBELET}\nLoadState=loaded\nActiveState=active\n");
            commands.answer(&shown(), &answer);
            renew(&agent, &reported).await.unwrap();
            let expected = [shown(), "systemctl restart kubelet.service".to_owned()];
            assert_eq!(commands.ran(), expected[..=usize::from(restarts)], "{started}");
        }
    }
}
