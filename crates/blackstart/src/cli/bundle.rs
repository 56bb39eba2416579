//! `blackstart bundle …`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

/// The components of a cluster.
#[derive(Debug, Subcommand)]
pub enum BundleCommand {
    /// Make a bundle: from a directory or archive, the publishers' releases, or Go modules
    #[command(
        after_help = "Sources are tried in this order unless --source names one. What was made once is kept in the user's cache\ndirectory; an interrupted build goes on with the component it was at.\n\nExamples:\n  blackstart bundle build ./bundle\n  blackstart bundle build ./bundle --from /media/usb/components\n  blackstart bundle build ./bundle --source go-modules --with kubeadm"
    )]
    Build {
        /// Where to make it
        dir: PathBuf,
        /// Take components from this directory or archive first
        #[arg(long, value_name = "PATH")]
        from: Option<PathBuf>,
        /// Only from this source
        #[arg(long, value_enum)]
        source: Option<BundleSource>,
        /// Fetch the publishers' downloads from this address, where they lie by host and path
        #[arg(long, value_name = "URL")]
        mirror: Option<String>,
        /// Add components that are not part of every bundle, such as kubeadm
        #[arg(long, value_name = "NAME")]
        with: Vec<String>,
    },

    /// Show what a bundle holds
    #[command(after_help = "Example:\n  blackstart bundle show ./bundle -o json | jq '.components[].version'")]
    Show {
        /// The bundle
        dir: PathBuf,
    },

    /// Check every file of a bundle against its manifest
    #[command(after_help = "Example:\n  blackstart bundle verify ./bundle")]
    Verify {
        /// The bundle
        dir: PathBuf,
    },

    /// Install a bundle on this machine beside older ones, and switch to it
    #[command(
        after_help = "No network is needed. An upgrade, and the way back, is the same command with another bundle.\n\nExamples:\n  blackstart bundle install ./bundle\n  blackstart bundle install ./bundle --root /mnt/image"
    )]
    Install {
        /// The bundle
        dir: PathBuf,
    },

    /// Pack a bundle into one file, for machines without a network
    #[command(after_help = "Example:\n  blackstart bundle pack ./bundle blackstart-1.36.3.tar.zst")]
    Pack {
        /// The bundle
        dir: PathBuf,
        /// The archive to write
        archive: PathBuf,
    },

    /// Unpack and verify an archive
    #[command(after_help = "Example:\n  blackstart bundle unpack blackstart-1.36.3.tar.zst ./bundle")]
    Unpack {
        /// The archive
        archive: PathBuf,
        /// Where to make the bundle
        dir: PathBuf,
    },
}

/// Where components come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BundleSource {
    /// The publishers' downloads
    Release,
    /// Compiled from Go modules
    GoModules,
}
