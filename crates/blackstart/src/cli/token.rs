//! `blackstart token …`.

use clap::Subcommand;

/// Tokens by which machines join.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token and print it; run on a master
    #[command(
        after_help = "Examples:\n  blackstart token create --node worker-03\n  blackstart token create --ttl 2h\n  blackstart token create --print-join-command"
    )]
    Create {
        /// Only this node may join with it
        #[arg(long, value_name = "NAME")]
        node: Option<String>,
        /// How long it is good, such as 30m, 24h or 7d
        #[arg(long, value_name = "TIME", default_value = "24h")]
        ttl: String,
        /// Print a `kubeadm join` line with it
        #[arg(long)]
        print_join_command: bool,
    },

    /// List the tokens, without their secrets; run on a master
    #[command(after_help = "Examples:\n  blackstart token list\n  blackstart token list -o json")]
    List,

    /// Make a token useless at once; run on a master
    #[command(after_help = "Example:\n  blackstart token revoke k2m8xq")]
    Revoke {
        /// The part before the dot
        id: String,
    },
}
