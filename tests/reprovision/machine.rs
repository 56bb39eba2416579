//! Machines that stand in for RHEL: packages by Debian's dnf and rpm, from a repository made here.

use crate::{SERVER, WORKER, support::Cluster};

/// dnf and rpm as Fedora's relatives have them. rpm's list is where they have it: Debian's has it in root's home.
const MACHINE: &str = r"set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install --yes -q --no-install-recommends dnf rpm createrepo-c python3
mkdir -p /etc/dnf/vars /etc/yum.repos.d /etc/rpm
echo '%_dbpath /var/lib/rpm' > /etc/rpm/macros
echo 9 > /etc/dnf/vars/releasever
printf '[local]\nname=local\nbaseurl=http://@SERVER@:8000/\ngpgcheck=0\n' > /etc/yum.repos.d/local.repo";

/// Two versions of a tool, and a kubelet that comes with stage 2.
const PACKAGES: &str = r"set -eu
mkdir -p /srv/packages
cd /srv
package() {
    { printf 'Name: %s\nVersion: %s\nRelease: 1\nSummary: x\nLicense: x\nBuildArch: noarch\n' $1 $2; cat; } > $1.spec
    printf '%%description\nFor a test.\n%%files\n' >> $1.spec
    rpmbuild -bb --quiet --define '_rpmdir /srv' --define '_rpmfilename packages/%%{NAME}-%%{VERSION}.rpm' $1.spec
}
echo 'Provides: /bin/sh' | package shell 1
echo | package tool 1
echo | package tool 2
echo | package stand-in-kubelet 1
createrepo_c -q packages
systemd-run --quiet --collect --unit=repository python3 -m http.server --bind 0.0.0.0 --directory /srv/packages 8000
until curl -sf -o /dev/null http://127.0.0.1:8000/repodata/repomd.xml; do sleep 0.1; done";

/// Makes both workers what they are for this.
pub(crate) fn prepare(cluster: &Cluster) {
    dnf(cluster, SERVER);
    cluster.sh(SERVER, PACKAGES);
    prepare_one(cluster, WORKER);
}

/// Makes a machine what it is for this, as it is before the first payload.
pub(crate) fn prepare_one(cluster: &Cluster, name: &str) {
    dnf(cluster, name);
    cluster.sh(name, "dnf -qy install shell tool-1");
}

fn dnf(cluster: &Cluster, name: &str) {
    cluster.sh(name, &MACHINE.replace("@SERVER@", &cluster.ip(SERVER)));
}

/// What rpm lists, without the release.
pub(crate) fn packages(cluster: &Cluster) -> String {
    packages_of(cluster, WORKER)
}

/// The same of another machine.
pub(crate) fn packages_of(cluster: &Cluster, name: &str) -> String {
    cluster.sh(name, "rpm -qa --queryformat '%{NAME}-%{VERSION}\\n' | sort | xargs")
}
