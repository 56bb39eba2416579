//! Kubeconfigs: written from a fixed text, read as YAML. The only file of this crate that knows the YAML library.
//!
//! A kubeconfig of ours is wholly ours: when it is renewed, whatever a person added to it (contexts, a namespace) goes.
//! People work with a copy of `admin.conf`, as with kubeadm.

use std::path::Path;

use base64::{Engine, prelude::BASE64_STANDARD};
use rcgen::KeyPair;
use serde::Deserialize;

use crate::{certificate::Certificate, key};

/// What a kubeconfig's current context leads to.
pub(crate) struct Kubeconfig {
    pub(crate) server: String,
    pub(crate) ca_pem: Vec<u8>,
    pub(crate) identity: Identity,
}

/// How its user is identified.
pub(crate) enum Identity {
    /// By the certificate inside.
    Embedded(Box<Certificate>, Box<KeyPair>),
    /// By files elsewhere, which someone else renews: the kubelet rewrites its kubeconfig like this.
    Files,
}

/// How the user of a kubeconfig that is to be written proves who it is.
#[derive(Clone, Copy)]
pub enum Proof<'a> {
    /// By a certificate and a key inside the file, both PEM.
    Inside {
        /// The certificate.
        certificate_pem: &'a str,
        /// Its key.
        key_pem: &'a str,
    },
    /// By a file with both, which someone else renews.
    File(&'a Path),
}

/// The text of a kubeconfig.
pub fn kubeconfig(cluster: &str, user: &str, server: &str, ca_pem: &[u8], proof: Proof<'_>) -> String {
    let ca = BASE64_STANDARD.encode(ca_pem);
    let proof = match proof {
        Proof::Inside { certificate_pem, key_pem } => format!(
            "client-certificate-data: {}\n    client-key-data: {}",
            BASE64_STANDARD.encode(certificate_pem),
            BASE64_STANDARD.encode(key_pem)
        ),
        Proof::File(path) => format!("client-certificate: {0}\n    client-key: {0}", path.display()),
    };
    // Names are quoted because a cluster may well be called `1` or `on`.
    format!(
        r#"apiVersion: v1
kind: Config
clusters:
- name: "{cluster}"
  cluster:
    server: "{server}"
    certificate-authority-data: {ca}
users:
- name: "{user}"
  user:
    {proof}
contexts:
- name: "{user}@{cluster}"
  context:
    cluster: "{cluster}"
    user: "{user}"
current-context: "{user}@{cluster}"
"#
    )
}

/// Follows the current context to its cluster and user.
pub(crate) fn parse(bytes: &[u8]) -> Result<Kubeconfig, &'static str> {
    let file: File = serde_saphyr::from_slice(bytes).map_err(|_| "it is no kubeconfig")?;
    let context = pick(file.contexts, &file.current_context).ok_or("its current context is missing")?;
    let cluster = pick(file.clusters, &context.cluster).ok_or("its cluster is missing")?;
    let user = pick(file.users, &context.user).ok_or("its user is missing")?;
    let ca_pem = match cluster.certificate_authority_data {
        Some(data) => decode(&data)?,
        None => Vec::new(),
    };
    Ok(Kubeconfig { server: cluster.server, ca_pem, identity: identity(&user)? })
}

fn identity(user: &User) -> Result<Identity, &'static str> {
    match user {
        User { certificate_data: Some(certificate), key_data: Some(key), .. } => Ok(Identity::Embedded(
            Box::new(Certificate::from_pem(&decode(certificate)?)?),
            Box::new(key::from_pem(&decode(key)?)?),
        )),
        User { certificate_file: Some(_), key_file: Some(_), .. } => Ok(Identity::Files),
        _ => Err("its user has no client certificate"),
    }
}

fn decode(data: &str) -> Result<Vec<u8>, &'static str> {
    BASE64_STANDARD.decode(data.trim()).map_err(|_| "its base64 data is damaged")
}

fn pick<T>(entries: Vec<Entry<T>>, name: &str) -> Option<T> {
    entries.into_iter().find(|entry| entry.name == name).map(|entry| entry.body)
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct File {
    current_context: String,
    clusters: Vec<Entry<Cluster>>,
    contexts: Vec<Entry<Context>>,
    users: Vec<Entry<User>>,
}

#[derive(Deserialize)]
struct Entry<T> {
    name: String,
    #[serde(alias = "cluster", alias = "context", alias = "user")]
    body: T,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Cluster {
    server: String,
    certificate_authority_data: Option<String>,
}

#[derive(Deserialize)]
struct Context {
    cluster: String,
    user: String,
}

#[derive(Deserialize)]
struct User {
    #[serde(rename = "client-certificate-data")]
    certificate_data: Option<String>,
    #[serde(rename = "client-key-data")]
    key_data: Option<String>,
    #[serde(rename = "client-certificate")]
    certificate_file: Option<String>,
    #[serde(rename = "client-key")]
    key_file: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issue::Issued;

    fn inside(issued: &Issued) -> Proof<'_> {
        Proof::Inside { certificate_pem: &issued.certificate_pem, key_pem: &issued.key_pem }
    }

    fn identity() -> Issued {
        Issued { certificate_pem: "CERTIFICATE".into(), key_pem: "KEY".into() }
    }

    #[test]
    fn the_text_is_a_kubeconfig() {
        let text =
            kubeconfig("demo", "kubernetes-admin", "https://192.168.1.11:6443", b"AUTHORITY", inside(&identity()));
        insta::assert_snapshot!(text);
    }

    #[test]
    fn names_that_yaml_takes_for_something_else_stay_names() {
        for cluster in ["1", "on", "null", "1e3", "0x1f", "true"] {
            let text =
                kubeconfig(cluster, "system:node:1", "https://[fd00::1]:6443", b"AUTHORITY", inside(&identity()));
            let file: File = serde_saphyr::from_str(&text).unwrap();
            assert_eq!(file.current_context, format!("system:node:1@{cluster}"));
            assert_eq!(pick(file.contexts, &file.current_context).unwrap().cluster, cluster);
            assert_eq!(pick(file.clusters, cluster).unwrap().server, "https://[fd00::1]:6443");
        }
    }

    #[test]
    fn what_is_no_kubeconfig_says_why() {
        let with_user = |user: &str| {
            format!(
                "{{current-context: c, contexts: [{{name: c, context: {{cluster: k, user: u}}}}], \
                 clusters: [{{name: k, cluster: {{server: s}}}}], users: [{{name: u, user: {user}}}]}}"
            )
        };
        for (text, expected) in [
            (String::new(), "it is no kubeconfig"),
            ("a: [".into(), "it is no kubeconfig"),
            ("current-context: c\nclusters: []\ncontexts: []\nusers: []".into(), "its current context is missing"),
            (with_user("{token: t}"), "its user has no client certificate"),
            (with_user("{client-certificate-data: '!', client-key-data: '!'}"), "its base64 data is damaged"),
            (with_user("{client-certificate-data: eA==, client-key-data: eA==}"), "it holds no PEM certificate"),
        ] {
            assert_eq!(parse(text.as_bytes()).err(), Some(expected), "{text}");
        }
        let files = with_user("{client-certificate: /a.pem, client-key: /a.pem}");
        assert!(matches!(parse(files.as_bytes()).unwrap().identity, Identity::Files));
    }
}
