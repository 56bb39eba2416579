//! `blackstart ignition render`: one config per machine, from its sealed directory.
//!
//! Works on the computer where the configuration is made, whatever `--root` says. Every file is replaced as a whole; a
//! config whose inputs are the same stays as it is, so that pointers to it stay good.

use std::path::{Path, PathBuf};

use ::host::{Change, Content, Disk, Host};
use ::ignition::{Input, Pointer, Record, Rendered, Unit, codes};
use explain::counted;
use jiff::Timestamp;
use join::seal::{Sealed, Sources};
use nodekit::{Layout, identity};
use playbooks::cluster::{configuration, own_units};
use render::units;
use secrecy::ExposeSecret;
use serde_json::json;
use spec::{Node, Role, ValidatedCluster};

use super::kubeconfig;
use crate::{
    Failure,
    cli::RenderOptions,
    context::{Context, Ended},
};

/// What every machine's config is made from.
struct Common<'a> {
    cluster: &'a ValidatedCluster,
    sources: Sources,
    sealed: PathBuf,
    out: PathBuf,
    ssh_keys: Vec<String>,
    pointer: Option<&'a str>,
    now: Timestamp,
}

pub(super) fn run(context: &Context, options: &RenderOptions) -> Result<(), Ended> {
    let cluster = context.cluster(Some(&options.dir))?;
    let disk = Host::real().disk;
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let common = Common {
        cluster: &cluster,
        sources: Sources::read(&*disk, &absolute(&options.dir), &cluster)?,
        sealed: absolute(&options.sealed),
        out: absolute(&options.out),
        ssh_keys: ssh_keys(&options.ssh_key)?,
        pointer: options.pointer.as_deref(),
        now: context.host.clock.now(),
    };
    let nodes: Vec<&Node> = if options.node.is_empty() {
        cluster.machines().collect()
    } else {
        options.node.iter().map(|name| identity::by_name(&cluster, name)).collect::<Result<_, _>>()?
    };
    // All of them before the first is written: half a set is of no use.
    let mut changes = vec![Change::Directory { path: common.out.clone(), mode: 0o700 }];
    let mut records = Vec::new();
    for node in nodes {
        let (record, more) = machine(&*disk, node, &common)?;
        records.push(record);
        changes.extend(more);
    }
    changes.extend(kubeconfig::changes(&*disk, &cluster, &common.sealed, &common.out, common.now)?);
    let changes = Change::missing(changes, &*disk)?;
    for change in &changes {
        change.apply(&*disk)?;
    }
    let written = changes.iter().filter(|change| matches!(change, Change::File { .. })).count();
    show(context, &common.out, &records, written)
}

/// The changes that write one machine's config, and its pointer if one is wanted.
fn machine(disk: &dyn Disk, node: &Node, common: &Common<'_>) -> Result<(Record, Vec<Change>), Failure> {
    let sealed = usable(disk, node, common)?;
    let path = common.out.join(format!("{}.ign", node.name));
    let rendered = ::ignition::render(Input {
        cluster: common.cluster.name(),
        node,
        configuration: configuration(&common.sealed.join(&node.name), &Layout::default())?,
        units: installed_units(node),
        ssh_keys: common.ssh_keys.clone(),
        more_files: Vec::new(),
        rendered_at: common.now,
        valid_until: sealed.secret.expires,
    })?;
    let present = disk.read_optional(&path)?;
    let Rendered { bytes, record } = as_before(present.as_deref(), rendered);
    let mut changes = Vec::new();
    let pointers = common.out.join("pointers");
    let at = pointers.join(format!("{}.ign", node.name));
    if let Some(server) = common.pointer {
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

/// The units that `node install` writes. The one that makes the machine a node has another name on the bootstrap node.
fn installed_units(node: &Node) -> Vec<Unit> {
    let is_temporary = node.has(Role::Bootstrap);
    let services = own_units().into_iter().filter(|service| !is_temporary || service.name != units::bootstrap().name);
    let bootkube = is_temporary.then(units::bootkube);
    services.chain(bootkube).map(|service| Unit::new(service.name, &service.unit)).collect()
}

/// What is there already, if it was made from the same.
fn as_before(present: Option<&[u8]>, rendered: Rendered) -> Rendered {
    let Some(bytes) = present else { return rendered };
    match Record::of(bytes) {
        Some(record) if record.id == rendered.record.id && record.valid_until == rendered.record.valid_until => {
            Rendered { bytes: bytes.to_vec(), record }
        }
        _ => rendered,
    }
}

/// The sealed directory of a machine, if it is whole, of this machine and this configuration, and has not ended.
fn usable(disk: &dyn Disk, node: &Node, common: &Common<'_>) -> Result<Sealed, Failure> {
    let dir = common.sealed.join(&node.name);
    let shown = dir.display();
    let sealed = Sealed::read(disk, &dir)?
        .ok_or_else(|| Failure::new(codes::NOT_SEALED, format!("{shown} is not a sealed directory")))?;
    if sealed.secret.node != node.name {
        let message = format!("{shown} was sealed for `{}`", sealed.secret.node);
        return Err(Failure::new(codes::NOT_SEALED, message));
    }
    if let Some(end) = sealed.secret.expires.filter(|end| *end <= common.now) {
        return Err(Failure::new(codes::EXPIRED, format!("the secret in {shown} ended at {end}")));
    }
    let with = Sources::read(disk, &dir, common.cluster)?;
    if with.cluster != common.sources.cluster || with.nodes != common.sources.nodes {
        return Err(Failure::new(codes::STALE, format!("{shown} was sealed with another cluster.yaml or nodes/")));
    }
    Ok(sealed)
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
