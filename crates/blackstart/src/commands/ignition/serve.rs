//! `blackstart ignition serve`: the configs that were rendered, for machines that carry only a pointer.
//!
//! Everything is as it is on the disk at the moment of a request, so rendering again needs no restart. The certificate is made
//! at the start from the cluster's CA and is nowhere but in memory.

mod directory;
mod names;

use std::{collections::BTreeSet, io, path::Path, sync::Arc};

use ::host::Host;
use ::ignition::codes;
use jiff::Timestamp;
use join::{
    seal::{self, layout, split},
    server::serve_configs,
};
use pki::{Existing, Signer};
use secrecy::ExposeSecret;
use serde_json::json;
use spec::{San, ValidatedCluster};
use tls::{Listener, ServerCertificate};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use self::directory::Directory;
use crate::{
    Failure,
    cli::ServeOptions,
    context::{Context, Ended, block_on},
};

/// The name of no node and no user: no service of the cluster takes it for a node or an administrator.
const COMMON_NAME: &str = "blackstart:ignition";
const LOG_FILTER: &str = "warn,join=info";

pub(super) fn run(context: &Context, options: &ServeOptions) -> Result<(), Ended> {
    let cluster = context.cluster(Some(&options.dir))?;
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let (sealed, configs) = (absolute(&options.sealed), absolute(&options.configs));
    let names = names::of_server(&options.name, options.listen.ip(), &configs);
    if names.is_empty() {
        return Err(Failure::usage(codes::NO_NAME, "no pointer is in CONFIGS/pointers, and no --name was given").into());
    }
    let disk = Host::real().disk;
    let home = sealed.join(&seal::keeper(&cluster).ok_or_else(|| no_keys(&sealed))?.name);
    if !disk.exists(&home.join(layout::JOIN_KEY))? {
        return Err(no_keys(&home).into());
    }
    let (ca, certificate) = certificate(&home, &cluster, &names, context.host.clock.now())?;
    let filter = EnvFilter::try_from_env("BLACKSTART_LOG").unwrap_or_else(|_| EnvFilter::new(LOG_FILTER));
    tracing_subscriber::fmt().with_writer(io::stderr).with_env_filter(filter).with_ansi(false).init();

    let directory = Arc::new(Directory::new(disk, configs, sealed, home.join(layout::JOIN_KEY)));
    let clock = Arc::clone(&context.host.clock);
    block_on(async {
        let listen = |source: io::Error| Failure::new(codes::NO_LISTENER, format!("{}: {source}", options.listen));
        let tcp = TcpListener::bind(options.listen).await.map_err(listen)?;
        let listener = Listener::new(tcp, &certificate, &ca)?;
        show(context, &listener.address().to_string(), &names)?;
        serve_configs(listener, directory, clock, CancellationToken::new()).await.map_err(listen)?;
        Ok(())
    })?
}

fn no_keys(dir: &Path) -> Failure {
    Failure::new(codes::NO_KEYS, format!("{} has not the cluster's keys", dir.display()))
}

/// The CA, and a certificate of it for this server.
fn certificate(
    home: &Path,
    cluster: &ValidatedCluster,
    names: &BTreeSet<San>,
    now: Timestamp,
) -> Result<(String, ServerCertificate), Failure> {
    let signer = Signer::new(&Existing::read(&*Host::real().disk, home)?, cluster.name(), now)?;
    let made = signer.server(COMMON_NAME, names, None, now)?;
    let (certificate, key) = split(made.expose_secret()).ok_or_else(|| no_keys(home))?;
    let ca = String::from_utf8_lossy(signer.ca_pem()).into_owned();
    Ok((ca, ServerCertificate::new(&certificate, key.expose_secret())?))
}

fn show(context: &Context, address: &str, names: &BTreeSet<San>) -> Result<(), Ended> {
    let names: Vec<String> = names
        .iter()
        .map(|name| match name {
            San::Dns(name) => name.clone(),
            San::Ip(ip) => ip.to_string(),
        })
        .collect();
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "listen": address, "names": names }))?);
    }
    Ok(context
        .out
        .text(&format!("serving Ignition configs on {address} as {}; Ctrl-C stops it\n", names.join(", ")))?)
}
