//! One machine: this one, or the files of one that is off.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use host::{Disk, Host};
use nodekit::Layout;

use crate::{
    GatherError, Gathered, Progress,
    collect::{Collected, Source, collect},
    item::{Availability, Item},
    registry,
    scrub::Scrubber,
    secrets::{Secrets, of_secret_objects},
    shell,
};

/// Only the values of Secrets are wanted, for looking for them; they go nowhere.
const SECRET_OBJECTS: &str = "kubectl --kubeconfig=$KUBECONFIG --request-timeout=8s get secrets -A -o json";
const SECRET_OBJECTS_LIMIT: Duration = Duration::from_secs(12);

/// The item that may repeat the value of any Secret.
const POD_LOGS: &str = "logs/pods";

/// Who a machine is, as far as its files show.
struct Who {
    node: String,
    is_master: bool,
    kubeconfig: PathBuf,
}

/// Gathers everything of a machine whose `/` is `root`.
pub async fn machine(
    host: &Host,
    layout: &Layout,
    root: &Path,
    emit: &dyn Fn(&Progress<'_>),
) -> Result<Gathered, GatherError> {
    let who = Who::read(&*host.disk, layout);
    let is_this_machine = root == Path::new("/");
    let source = Source {
        host,
        kubernetes_dir: &layout.kubernetes_dir,
        is_this_machine,
        variables: variables(&who, layout, root, is_this_machine),
    };
    let items = registry::items(layout);
    let (wanted, refused): (Vec<Item>, Vec<Item>) =
        items.into_iter().partition(|item| refusal(item.availability, is_this_machine, who.is_master).is_none());

    let (collected, objects) = tokio::join!(collect(&source, &wanted, emit), secret_objects(&source, who.is_master));
    // Looked at after everything was collected: a token that was made meanwhile is known too.
    let mut found = Secrets::read(&*host.disk, layout);
    let unknown = match objects {
        Objects::Known(values) => {
            found.secrets.add(values);
            None
        }
        Objects::NotHere => None,
        Objects::Unknown => Some("left out: the values of Secrets are not known while the API does not answer"),
    };
    let scrubber = Scrubber::new(&found.secrets).map_err(GatherError::NotClean)?;

    let mut gathered = Gathered::new(&who.node, host.clock.now());
    for (item, collected) in wanted.iter().zip(collected) {
        let left_out = unknown.filter(|_| item.name == POD_LOGS).map(Collected::missing);
        gathered.add(&scrubber, item, left_out.unwrap_or(collected));
    }
    for item in refused {
        if let Some(why) = refusal(item.availability, is_this_machine, true) {
            gathered.add(&scrubber, &item, Collected::missing(why));
        }
    }
    if let Some(first) = found.unread.first() {
        let item = Item::files("secrets", "values that everything else is scanned for", [""; 0]);
        let count = explain::counted(found.unread.len(), "path");
        gathered.add(&scrubber, &item, Collected::missing(format!("{count} could not be read; the first: {first}")));
    }
    Ok(gathered)
}

/// Why an item cannot be had here; `None` if it can. What a worker does not have is not missed.
fn refusal(availability: Availability, is_this_machine: bool, is_master: bool) -> Option<&'static str> {
    match availability {
        Availability::Running | Availability::Master if !is_this_machine => {
            Some("the machine does not run, or does not answer")
        }
        Availability::Master if !is_master => Some("only a master has it"),
        Availability::Anywhere | Availability::Running | Availability::Master => None,
    }
}

/// The values of Secret objects.
enum Objects {
    Known(Vec<Vec<u8>>),
    /// This machine may not see them, and so nothing here needs them but what is mounted on it.
    NotHere,
    Unknown,
}

async fn secret_objects(source: &Source<'_>, is_master: bool) -> Objects {
    if !source.is_this_machine {
        return Objects::Unknown;
    }
    if !is_master {
        return Objects::NotHere;
    }
    let printed = shell::run(source.host, SECRET_OBJECTS, &source.variables, SECRET_OBJECTS_LIMIT).await;
    of_secret_objects(&printed.text).map_or(Objects::Unknown, Objects::Known)
}

impl Who {
    fn read(disk: &dyn Disk, layout: &Layout) -> Self {
        let text = |path: &Path| {
            let bytes = disk.read(path).ok()?;
            let text = String::from_utf8_lossy(&bytes).trim().to_owned();
            (!text.is_empty()).then_some(text)
        };
        let is_there = |name: &str| disk.exists(&layout.kubernetes_dir.join(name)).unwrap_or(false);
        let node = text(&layout.config_dir.join("node-identity")).or_else(|| text(Path::new("/etc/hostname")));
        let is_master = text(&layout.state_dir.join("node-role")).is_some_and(|role| role.starts_with("master"))
            || is_there("pki/ca.key");
        let kubeconfig = if is_master { "super-admin.conf" } else { "kubelet.conf" };
        Self {
            node: node.unwrap_or_else(|| "unknown".to_owned()),
            is_master,
            kubeconfig: layout.kubernetes_dir.join(kubeconfig),
        }
    }
}

fn variables(who: &Who, layout: &Layout, root: &Path, is_this_machine: bool) -> Vec<(&'static str, String)> {
    let only =
        |field: &str| if who.is_master { String::new() } else { format!("--field-selector={field}={}", who.node) };
    let journal = root.join("var/log/journal");
    let program = std::env::current_exe().unwrap_or_else(|_| "blackstart".into());
    vec![
        ("KUBECONFIG", who.kubeconfig.display().to_string()),
        ("PKI", layout.kubernetes_dir.join("pki").display().to_string()),
        ("NODE", who.node.clone()),
        ("ONLY_NODE", only("metadata.name")),
        ("ONLY_PODS", only("spec.nodeName")),
        ("JOURNAL", if is_this_machine { String::new() } else { format!("--directory={}", journal.display()) }),
        ("BLACKSTART", program.display().to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine on which nothing was ever started, and which is off.
    #[tokio::test]
    async fn files_of_a_machine_that_is_off() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("etc/cluster-config/node-identity", "worker-07\n");
        put("etc/cluster-config/join-secret", "v2.worker-07.7.0.c2VjcmV0LXNlY3JldC1zZWNyZXQ\n");
        put("etc/cluster-config/cluster.yaml", "cluster:\n  note: c2VjcmV0LXNlY3JldC1zZWNyZXQ\n");
        put("var/lib/cluster-state/ledger.json", "{}");
        put("var/log/pods/kube-system_x/y/0.log", "hello");
        let host = Host::rooted(root.path());
        let gathered = machine(&host, &Layout::default(), root.path(), &|_| ()).await.unwrap();
        let files: Vec<&str> =
            gathered.files.files.keys().map(String::as_str).filter(|name| name.starts_with("files")).collect();
        assert_eq!(
            files,
            [
                "files/etc/cluster-config/cluster.yaml",
                "files/etc/cluster-config/node-identity",
                "files/var/lib/cluster-state/ledger.json"
            ]
        );
        let yaml = &gathered.files.files["files/etc/cluster-config/cluster.yaml"];
        assert_eq!(String::from_utf8_lossy(yaml), "cluster:\n  note: [redacted]\n");
        let why = |name: &str| gathered.index.errors().find(|(item, _)| *item == name).map(|(_, why)| why);
        assert!(why("api/nodes.json").is_some_and(|why| why.contains("does not run")));
        assert!(why(POD_LOGS).is_some_and(|why| why.contains("Secrets are not known")));
        assert_eq!(gathered.index.name, "worker-07");
    }
}
