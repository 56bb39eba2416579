//! `blackstart ignition …`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Ignition configs for machines that are set up at their first boot.
#[derive(Debug, Subcommand)]
pub enum IgnitionCommand {
    /// Write one Ignition config per machine, from its sealed directory
    #[command(
        after_help = "Each OUT/NAME.ign holds all that `blackstart node install` would have put on the machine: the sealed configuration, our\nunits, the host name, and the user `core`. It is of spec 3.2.0, which RHCOS, Fedora CoreOS, Flatcar and Debian's Ignition read.\nThe files hold the machines' secrets: keep them as you keep SEALED. Programs and images are not in them; they come with the\nmachine's bundle. Rendering again writes only what has changed.\n\nWith --pointer, OUT/pointers/NAME.ign says only where the config is: fetched over TLS under the cluster's CA, with a proof of\nthe node's secret, and used only if it is the very file in OUT.\n\nExamples:\n  blackstart config seal examples/pivot --out sealed\n  blackstart ignition render examples/pivot --sealed sealed --out ign --ssh-key ~/.ssh/id_ed25519.pub\n  blackstart ignition render examples/pivot --sealed sealed --out ign --node master-01\n  blackstart ignition render examples/pivot --sealed sealed --out ign --pointer https://192.168.10.9:22623"
    )]
    Render(RenderOptions),

    /// Serve the configs to machines that carry only a pointer
    #[command(
        after_help = "GET /config/NAME over TLS under the cluster's CA answers with CONFIGS/NAME.ign, only for the `Authorization` header in the\npointer of NAME, which is made from that node's secret. A request without that proof gets 401 for every name. A config that is\nrendered again is served from the next request on; one that is not there yet is answered with 503, and Ignition asks\nagain. Runs until it is stopped; stop it when all machines have booted.\n\nExamples:\n  blackstart ignition render examples/pivot --sealed sealed --out ign --pointer https://192.168.10.1:22623\n  blackstart ignition serve examples/pivot --sealed sealed --configs ign\n  blackstart ignition serve examples/pivot --sealed sealed --configs ign --listen 192.168.10.1:22623 --name ign.example.org"
    )]
    Serve(ServeOptions),

    /// Check Ignition configs: every problem at once, with line, column and a hint
    #[command(
        after_help = "Stricter than Ignition itself: a key that means nothing is an error, and so are keys that others could read, certificates\nthat are not valid now, and a render whose secret has ended.\n\nExit codes: 0 nothing is wrong, 1 something is.\n\nExamples:\n  blackstart ignition validate ign/*.ign\n  blackstart ignition validate ign/bootstrap.ign -o json | jq '.problems[].code'"
    )]
    Validate {
        /// The configs
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

/// What is served, and where.
#[derive(Debug, Args)]
pub struct ServeOptions {
    /// Directory with cluster.yaml and nodes/
    pub dir: PathBuf,
    /// Where `blackstart config seal` wrote the machines' directories
    #[arg(long, value_name = "DIR")]
    pub sealed: PathBuf,
    /// Where `blackstart ignition render` wrote the configs
    #[arg(long, value_name = "DIR")]
    pub configs: PathBuf,
    /// Address and port
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:22623")]
    pub listen: std::net::SocketAddr,
    /// What machines call this server: a name or an address; may be given several times [default: as the pointers have it]
    #[arg(long, value_name = "HOST")]
    pub name: Vec<String>,
}

/// What is rendered, and how.
#[derive(Debug, Args)]
pub struct RenderOptions {
    /// Directory with cluster.yaml and nodes/
    pub dir: PathBuf,
    /// Where `blackstart config seal` wrote the machines' directories
    #[arg(long, value_name = "DIR")]
    pub sealed: PathBuf,
    /// Where the configs go
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Only this machine; may be given several times
    #[arg(long, value_name = "NAME")]
    pub node: Vec<String>,
    /// Let the holders of these public keys log in as `core`; may be given several times
    #[arg(long, value_name = "FILE")]
    pub ssh_key: Vec<PathBuf>,
    /// Also write configs that fetch the others from this server
    #[arg(long, value_name = "URL")]
    pub pointer: Option<String>,
}
