//! `blackstart backup …`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Everything a cluster cannot be without, in one encrypted file.
#[derive(Debug, Subcommand)]
pub enum BackupCommand {
    /// Write a backup, read it back, and say where it is; run on a master
    #[command(
        after_help = "It holds a snapshot of etcd (all objects, bootstrap tokens too), the CAs, the service account keys,\nthe key that encrypts Secrets, the key that encrypts Secrets, and the configuration directory without what\nis this node's own. It is always encrypted: without --passphrase-file or --key-file a passphrase is\nasked for.\n\nExamples:\n  blackstart backup create\n  blackstart backup create /mnt/usb/ --key-file /root/backup.key\n  blackstart backup create home.age --passphrase-file /root/passphrase"
    )]
    Create {
        /// A file that does not exist, or a directory [default: the current directory]
        file: Option<PathBuf>,
        /// What it is locked or opened with.
        #[command(flatten)]
        key: KeyOptions,
    },

    /// Decrypt a backup and check every byte of it; changes nothing
    #[command(
        after_help = "Automatic backups open by themselves on a master of their cluster. Elsewhere, name the key they were\nmade for: backup.key, or join.key of the first master's sealed directory.\n\nExamples:\n  blackstart backup verify home.age\n  blackstart backup verify home.age --key-file sealed/master-01/join.key -o json | jq .manifest"
    )]
    Verify {
        /// The backup
        file: PathBuf,
        /// What it is locked or opened with.
        #[command(flatten)]
        key: KeyOptions,
    },

    /// Make this machine a master of the cluster in a backup
    #[command(
        after_help = "For a machine that has nothing, or was reset. Files that are there and differ from the backup are\nnever replaced, unless --force is given. etcd comes back with one member; `blackstart node up` then\nstarts it, and the other masters join again with empty disks.\n\nExamples:\n  blackstart backup restore home.age\n  blackstart backup restore home.age --key-file sealed/master-01/join.key --yes\n  blackstart node up"
    )]
    Restore {
        /// The backup
        file: PathBuf,
        /// What it is locked or opened with.
        #[command(flatten)]
        key: KeyOptions,
        /// The master this machine becomes, instead of the detected one
        #[arg(long, value_name = "NAME")]
        node: Option<String>,
        /// Replace files that differ from those in the backup
        #[arg(long)]
        force: bool,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },

    /// List the automatic backups of this machine, the newest first
    #[command(
        after_help = "A master makes one every 15 minutes. The last eight are kept, one per hour for a day, and one per\nday for a week.\n\nExamples:\n  blackstart backup list\n  blackstart backup list -o json | jq -r '.backups[0].path'"
    )]
    List {
        /// List this directory instead
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },

    /// Print a new key for backups, in the form of the tool `age`
    #[command(
        after_help = "Keep it where the machines are not: every backup made for it can be read\nwith it, and only with it. Automatic backups are made for the key in backup.key beside cluster.yaml, if it is there.\n\nExamples:\n  (umask 077; blackstart backup key > backup.key)\n  blackstart backup create --key-file backup.key"
    )]
    Key,
}

/// What opens a backup.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct KeyOptions {
    /// A file with the passphrase
    #[arg(long, value_name = "FILE")]
    pub passphrase_file: Option<PathBuf>,
    /// A file with a key: of `blackstart backup key`, of `age-keygen`, or a cluster's join.key
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
}
