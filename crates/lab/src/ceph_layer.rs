//! The layer of machines with a role in Ceph: Debian's Ceph, installed once over the base image and kept.
//!
//! What a machine would fetch and set up for a minute is there from its first boot; a node finds its packages and goes on.
//! The layer is what apt changes in an overlay over the base image. Its name carries a sum over the recipe and the name of
//! the image below it. Like the image it appears under its name when it is complete, and is made in namespaces that end
//! with us, so that a process that is killed while making it leaves neither a process nor a mount.

use std::{
    fs,
    path::{Path, PathBuf},
};

use playbooks::ceph;

use crate::{LabError, base, run::feed};

/// Where layers are kept.
const HOME: &str = "/var/cache/blackstart/ceph";
/// Megabytes the layer takes while it is being made.
const NEEDED_MB: u64 = 1000;

/// Installs packages in the machine whose layers are given. Lists and archives of apt stay outside, and no service starts.
const RECIPE: &str = r#"
lower=$1 upper=$2 work=$3 root=$4; shift 4
mount -t overlay overlay -o "lowerdir=$lower,upperdir=$upper,workdir=$work" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind /etc/resolv.conf "$root/etc/resolv.conf"
for dir in lib/apt/lists cache/apt; do mount -t tmpfs tmpfs "$root/var/$dir"; done
printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
in_machine() { chroot "$root" env LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@" < /dev/null; }
in_machine apt-get -q -o Acquire::Retries=3 update
in_machine apt-get -q -y -o Acquire::Retries=3 --no-install-recommends install "$@"
rm "$root/usr/sbin/policy-rc.d"
"#;

/// The directory of the layer.
pub(crate) fn dir() -> PathBuf {
    let units: Vec<PathBuf> = ceph::unwanted_units().collect();
    let recipe = format!("{RECIPE} {:?} {units:?}", ceph::PACKAGES);
    let base = base::dir();
    let name = base.file_name().unwrap_or_default().to_string_lossy();
    Path::new(HOME).join(format!("{name}-{:08x}", base::checksum(recipe.as_bytes())))
}

/// Makes the layer; the base image is there.
pub(crate) async fn create() -> Result<(), LabError> {
    let dir = dir();
    let _making = base::only_maker(Path::new(HOME)).await?;
    if dir.exists() {
        return Ok(()); // another lab made it while we waited
    }
    let (fresh, work, root) = (dir.with_extension("new"), dir.with_extension("work"), dir.with_extension("root"));
    base::check_space(Path::new(HOME), NEEDED_MB)?;
    for part in [&fresh, &work, &root] {
        base::remove_tree(part)?;
        fs::create_dir_all(part).map_err(LabError::while_doing(format!("create {}", part.display())))?;
    }
    let line = format!(
        "setpriv --pdeathsig KILL unshare --pid --mount --propagation private --kill-child -- sh -eus -- {} {} {} {} {}",
        base::dir().display(),
        fresh.display(),
        work.display(),
        root.display(),
        ceph::PACKAGES.join(" "),
    );
    feed(&line, RECIPE).await?;
    for unit in ceph::unwanted_units() {
        base::mask(&fresh, &unit)?;
    }
    for part in [&work, &root] {
        base::remove_tree(part)?;
    }
    base::complete(&fresh, &dir).await
}
