//! Every secret of a machine, found out by other means than `gather` does, and every form in which it must not be seen.

use std::{collections::BTreeSet, fmt::Write as _};

use serde_json::Value;

use crate::{
    MASTER,
    support::{Cluster, run},
};

/// Files with private keys, wherever they are.
const KEY_FILES: &str =
    "grep -rlsI -e 'PRIVATE KEY' /etc /root /var/lib/kubelet /var/lib/cluster-state /usr/local/etc | xargs -r cat";
/// What kubeconfigs hold.
const KUBECONFIG_KEYS: &str =
    "grep -rhs -e client-key-data: -e 'token:' /etc/kubernetes /root/.kube | awk '{print $2}'";
/// What is nothing but a secret.
const WHOLE_FILES: &str = "cat /etc/cluster-config/join-secret /etc/cluster-config/join.key /etc/cluster-config/encryption.key \
    /var/lib/cluster-state/bootstrap-token 2>/dev/null; grep -hs 'secret:' /etc/kubernetes/encryption.yaml | awk '{print $NF}'; true";
/// Tokens of the pods' service accounts.
const POD_TOKENS: &str = "cat /var/lib/kubelet/pods/*/volumes/kubernetes.io~projected/*/token 2>/dev/null || true";

/// A word that is no secret, planted like one.
pub(crate) const CONTROL: &str = "a word that anybody may know";

/// The secrets of a machine; each is a text that nothing public contains.
pub(crate) fn of(cluster: &Cluster, machine: &str) -> BTreeSet<String> {
    let words =
        |line: &str| -> Vec<String> { cluster.sh(machine, line).split_whitespace().map(str::to_owned).collect() };
    let mut all = keys(&cluster.sh(machine, KEY_FILES));
    assert!(!all.is_empty() || machine != MASTER, "a master has keys");
    for word in words(KUBECONFIG_KEYS) {
        all.extend(keys(&decoded(&word)));
        all.insert(word);
    }
    let whole = words(WHOLE_FILES);
    assert!(!whole.is_empty(), "every machine was sealed");
    for word in whole {
        all.insert(word.rsplit('.').next().unwrap().to_owned());
        all.insert(word);
    }
    for token in words(POD_TOKENS) {
        all.insert(token);
    }
    all.retain(|secret| secret.len() >= 16);
    all
}

/// The values of all Secret objects that are secret.
pub(crate) fn of_objects(cluster: &Cluster) -> BTreeSet<String> {
    let public = ["description", "expiration", "auth-extra-groups", "token-id", "ca.crt", "namespace"];
    let secrets = cluster.get(&["secrets", "-A"]);
    let mut all = BTreeSet::new();
    for (name, value) in secrets.iter().filter_map(|secret| secret["data"].as_object()).flatten() {
        let value = decoded(value.as_str().unwrap());
        if !public.contains(&name.as_str()) && !name.starts_with("usage-") {
            all.insert(value);
        }
    }
    assert!(all.iter().any(|value| value.len() == 16), "tokens are Secrets too");
    all
}

/// Every line of every private key in a text.
fn keys(text: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for block in text.split("-----BEGIN ").filter(|block| block.contains("PRIVATE KEY-----")) {
        let body = block.split("-----END").next().unwrap_or_default();
        all.extend(body.lines().skip(1).filter(|line| line.len() >= 16).map(str::to_owned));
    }
    all
}

fn decoded(text: &str) -> String {
    let output = run("sh", &["-c", &format!("printf %s '{text}' | base64 -d 2>/dev/null")]);
    output.out
}

/// How a secret may look.
pub(crate) fn forms(secret: &str) -> Vec<String> {
    let once = encoded(secret.as_bytes());
    let hex = secret.bytes().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    });
    let url_safe = once.replace('+', "-").replace('/', "_").trim_end_matches('=').to_owned();
    vec![secret.to_owned(), encoded(once.as_bytes()), once.trim_end_matches('=').to_owned(), hex, url_safe]
}

/// Base64, written out here so that it is not the code under test that says what it looks like.
pub(crate) fn encoded(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let number = chunk.iter().chain([0, 0].iter()).take(3).fold(0usize, |sum, byte| sum << 8 | usize::from(*byte));
        for index in 0..4 {
            let letter = ALPHABET[number >> (18 - 6 * index) & 63];
            text.push(if index <= chunk.len() { letter.into() } else { '=' });
        }
    }
    text
}

/// A Secret, a token, a pod that prints both, and lines in the journal that repeat what must not be seen.
pub(crate) fn plant(cluster: &Cluster, pod_node: &str) -> BTreeSet<String> {
    let word = "Correct-Horse-Battery-Staple-1";
    let create =
        ["-n", "kube-system", "create", "secret", "generic", "planted", &format!("--from-literal=word={word}")];
    cluster.kubectl(&create);
    let made: Value = serde_json::from_str(&cluster.sh(MASTER, "blackstart token create -o json")).unwrap();
    let token = made["token"].as_str().unwrap().to_owned();
    let pod = format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{ name: planted, namespace: kube-system }}\nspec:\n  nodeName: {pod_node}\n  \
         tolerations: [{{ operator: Exists }}]\n  restartPolicy: Never\n  containers:\n  - name: talker\n    image: blackstart.local/probe:1\n    \
         imagePullPolicy: Never\n    env: [{{ name: WORD, valueFrom: {{ secretKeyRef: {{ name: planted, key: word }} }} }}, \
         {{ name: PASSWORD, value: hunter2-hunter2 }}]\n    volumeMounts: [{{ name: planted, mountPath: /planted }}]\n    \
         command: [sh, -c, \"echo the word is $WORD and the token {token}; cat /var/run/secrets/kubernetes.io/serviceaccount/token; echo; exec httpd -f -p 8099\"]\n  \
         volumes: [{{ name: planted, secret: {{ secretName: planted }} }}]\n"
    );
    cluster.apply(&pod);
    cluster.kubectl(&["-n", "kube-system", "wait", "--for=condition=Ready", "pod/planted", "--timeout=2m"]);
    let control = format!("planted: {CONTROL} and {}", encoded(CONTROL.as_bytes()));
    cluster.sh(MASTER, &format!("echo '{control}' | systemd-cat -t planted -p err"));
    let mut planted: BTreeSet<String> = [word.to_owned(), "hunter2-hunter2".to_owned()].into();
    planted.insert(token.split('.').nth(1).unwrap().to_owned());
    for machine in [MASTER, crate::WORKER] {
        for line in [
            "cat /etc/cluster-config/join-secret",
            "cut -d. -f4 /etc/cluster-config/join-secret",
            "base64 -w0 /etc/cluster-config/join-secret",
            "base64 -w0 /etc/cluster-config/join-secret | base64 -w0",
            "od -An -v -tx1 /etc/cluster-config/join-secret | tr -d ' \\n'",
            "sed -n 2p /etc/kubernetes/pki/ca.key 2>/dev/null",
            "cat /etc/kubernetes/pki/sa.key 2>/dev/null",
            "cat /var/lib/kubelet/pki/kubelet-client-current.pem",
            "cat /etc/cluster-config/encryption.key 2>/dev/null",
        ] {
            cluster.sh(machine, &format!("{{ echo \"planted: $({line})\"; }} | systemd-cat -t planted -p err"));
        }
    }
    planted
}
