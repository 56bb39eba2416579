//! `blackstart ignition render`: one config per machine, from its sealed directory.
//!
//! Works on the computer where the configuration is made, whatever `--root` says. Every file is replaced as a whole; a
//! config whose inputs are the same stays as it is, so that pointers to it stay good.

use std::path::{Path, PathBuf};

use ::host::{Change, Content, Disk, Host};
use ::ignition::{Pointer, Record, Rendered, codes};
use explain::counted;
use join::seal::Sources;
use nodekit::identity;
use playbooks::first_boot::FirstBoot;
use secrecy::ExposeSecret;
use serde_json::json;
use spec::Node;

use super::kubeconfig;
use crate::{
    Failure,
    cli::RenderOptions,
    context::{Context, Ended},
};

pub(super) fn run(context: &Context, options: &RenderOptions) -> Result<(), Ended> {
    let cluster = context.cluster(Some(&options.dir))?;
    let disk = Host::real().disk;
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let (sealed, out) = (absolute(&options.sealed), absolute(&options.out));
    let first_boot = FirstBoot {
        cluster: &cluster,
        sources: &Sources::read(&*disk, &absolute(&options.dir), &cluster)?,
        sealed: &sealed,
        ssh_keys: &ssh_keys(&options.ssh_key)?,
        now: context.host.clock.now(),
    };
    let nodes: Vec<&Node> = if options.node.is_empty() {
        cluster.machines().collect()
    } else {
        options.node.iter().map(|name| identity::by_name(&cluster, name)).collect::<Result<_, _>>()?
    };
    // All of them before the first is written: half a set is of no use.
    let mut changes = vec![Change::Directory { path: out.clone(), mode: 0o700 }];
    let mut records = Vec::new();
    for node in nodes {
        let (record, more) = machine(&*disk, node, &first_boot, &out, options.pointer.as_deref())?;
        records.push(record);
        changes.extend(more);
    }
    changes.extend(kubeconfig::changes(&*disk, &cluster, &sealed, &out, first_boot.now)?);
    let changes = Change::missing(changes, &*disk)?;
    for change in &changes {
        change.apply(&*disk)?;
    }
    let written = changes.iter().filter(|change| matches!(change, Change::File { .. })).count();
    show(context, &out, &records, written)
}

/// The changes that write one machine's config, and its pointer if one is wanted.
fn machine(
    disk: &dyn Disk,
    node: &Node,
    first_boot: &FirstBoot<'_>,
    out: &Path,
    server: Option<&str>,
) -> Result<(Record, Vec<Change>), Failure> {
    let path = out.join(format!("{}.ign", node.name));
    let present = disk.read_optional(&path)?;
    let (sealed, Rendered { bytes, record }) = first_boot.config(disk, node, present.as_deref())?;
    let mut changes = Vec::new();
    let pointers = out.join("pointers");
    let at = pointers.join(format!("{}.ign", node.name));
    if let Some(server) = server {
        let authorization = join::pointer::authorization(&sealed.secret);
        let pointer = Pointer {
            server,
            node: &node.name,
            authorization: authorization.expose_secret(),
            ca_pem: &sealed.ca_pem,
            served: &bytes,
        };
        let text = pointer.config()?.bytes().map_err(::ignition::RenderError::from)?;
        changes.push(Change::Directory { path: pointers, mode: 0o700 });
        changes.push(private(at, text));
    } else if present.is_some_and(|present| present != bytes) {
        // It would lead to what is no longer there.
        changes.push(Change::Remove { path: at });
    }
    // The pointer comes last: it leads to what is there.
    changes.insert(0, private(path, bytes));
    Ok((record, changes))
}

fn private(path: PathBuf, bytes: Vec<u8>) -> Change {
    Change::File { path, mode: 0o600, content: Content::Secret(bytes) }
}

/// The public keys in these files. What is no public key may be a private one, so it is not repeated.
fn ssh_keys(files: &[PathBuf]) -> Result<Vec<String>, Failure> {
    let mut keys = Vec::new();
    for file in files {
        let failed = |why: &str| Failure::usage(codes::SSH_KEY, format!("{}: {why}", file.display()));
        let text = std::fs::read_to_string(file).map_err(|error| failed(&error.to_string()))?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let before = keys.len();
        for line in lines {
            let kind = line.split_whitespace().next().unwrap_or_default();
            if !["ssh-", "ecdsa-", "sk-"].iter().any(|begin| kind.starts_with(begin)) {
                return Err(failed("a line is not a public key"));
            }
            keys.push(line.to_owned());
        }
        if keys.len() == before {
            return Err(failed("there is no public key in it"));
        }
    }
    Ok(keys)
}

fn show(context: &Context, out: &Path, records: &[Record], written: usize) -> Result<(), Ended> {
    let kubeconfig = out.join("kubeconfigs/admin.kubeconfig");
    let kubeconfig = kubeconfig.exists().then_some(kubeconfig);
    if context.out.is_json() {
        let result = json!({ "out": out, "nodes": records, "files_written": written, "kubeconfig": kubeconfig });
        return Ok(context.out.json(&result)?);
    }
    let mut text = match written {
        0 => format!("{} is rendered already\n", out.display()),
        _ => format!("wrote {} to {}\n", counted(written, "file"), out.display()),
    };
    for record in records {
        let until = record.valid_until.map_or("for ever".to_owned(), |end| format!("until {end}"));
        text += &format!("  {}.ign  good for a first boot {until}, id {}\n", record.node, &record.id[..12]);
    }
    if let Some(path) = kubeconfig {
        text += &format!("\nexport KUBECONFIG={}\n", path.display());
    }
    text += "The files hold secrets of the machines: keep them as you keep the sealed directories.\n";
    Ok(context.out.text(&text)?)
}
