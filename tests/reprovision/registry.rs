//! A real registry with TLS and passwords, and the images in it: of a system twice, and of a stand-in for the machine-config-daemon.

use crate::{SERVER, support::Cluster};

const DIR: &str = "/srv/registry";
/// What a node may pull with.
const USER: &str = "puller:pull-secret-of-the-cluster";

/// What an image is asked for by.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Image {
    Daemon,
    OldSystem,
    NewSystem,
}

const REGISTRY: &str = r"set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get install --yes -q --no-install-recommends docker-registry apache2-utils skopeo podman runc busybox-static
mkdir -p @DIR@
htpasswd -Bbn $(echo @USER@ | tr : ' ') > @DIR@/htpasswd
cat > /etc/docker/registry/config.yml <<EOF
version: 0.1
log: { level: warn, accesslog: { disabled: false } }
storage: { filesystem: { rootdirectory: /var/lib/docker-registry } }
http: { addr: 0.0.0.0:5000, tls: { certificate: /srv/api/cert.pem, key: /srv/api/key.pem } }
auth: { htpasswd: { realm: stand-in, path: @DIR@/htpasswd } }
EOF
systemctl restart docker-registry
until curl -sf --cacert /srv/api/ca.pem -u @USER@ https://@AT@/v2/ > /dev/null; do sleep 0.1; done";

/// A system is what ostree needs of one, and the name of its version.
const IMAGES: &str = r#"set -eu
cd @DIR@
mkdir -p certs storage
cp /srv/api/ca.pem certs/ca.crt
printf '[storage]\ndriver = "vfs"\ngraphroot = "%s/storage"\nrunroot = "/run/images"\n' @DIR@ > storage.conf
export CONTAINERS_STORAGE_CONF=@DIR@/storage.conf
push() {
    tar -C $1 -c . | podman import --quiet --change "LABEL version=$3" - localhost/$1
    skopeo copy --quiet --dest-cert-dir certs --dest-creds @USER@ --digestfile $1.digest \
        containers-storage:localhost/$1 docker://@AT@/$2:$1
}
for version in old new; do
    root=$version-system
    mkdir -p $root/usr/etc $root/usr/lib/modules/6.1-stand-in
    for file in vmlinuz initramfs.img; do echo $version > $root/usr/lib/modules/6.1-stand-in/$file; done
    printf 'ID=rhcos\nPRETTY_NAME="stand-in %s"\n' $version > $root/usr/lib/os-release
    echo $version > $root/usr/etc/of-system
    push $root ocp/os stand-in-$version
done
mkdir -p daemon/bin daemon/usr/bin daemon/usr/libexec daemon/rootfs
cp /bin/busybox daemon/bin/busybox
for name in sh sed mkdir cp chroot env; do ln -sf busybox daemon/bin/$name; done
cp stand_in_mcd.sh daemon/usr/bin/machine-config-daemon
chmod 755 daemon/usr/bin/machine-config-daemon
cp stand_in_mcd.py daemon/usr/libexec/
push daemon ocp/release stand-in"#;

/// Serves them.
pub(crate) fn serve(cluster: &Cluster) {
    let filled = |script: &str| script.replace("@AT@", &at(cluster)).replace("@DIR@", DIR).replace("@USER@", USER);
    cluster.sh(SERVER, &filled(REGISTRY));
    for (name, text) in
        [("stand_in_mcd.sh", include_str!("stand_in_mcd.sh")), ("stand_in_mcd.py", include_str!("stand_in_mcd.py"))]
    {
        crate::api::write(cluster, SERVER, &format!("{DIR}/{name}"), text.as_bytes());
    }
    cluster.sh(SERVER, &filled(IMAGES));
}

/// How it is called in the names of images.
pub(crate) fn at(cluster: &Cluster) -> String {
    format!("{}:5000", cluster.ip(SERVER))
}

/// An image by its digest.
pub(crate) fn image(cluster: &Cluster, image: Image) -> String {
    let (repository, name) = match image {
        Image::Daemon => ("ocp/release", "daemon"),
        Image::OldSystem => ("ocp/os", "old-system"),
        Image::NewSystem => ("ocp/os", "new-system"),
    };
    let digest = cluster.sh(SERVER, &format!("cat {DIR}/{name}.digest"));
    format!("{}/{repository}@{digest}", at(cluster))
}

/// The file that podman and the kubelet have their credentials from.
pub(crate) fn pull_secret(cluster: &Cluster) -> String {
    let auth = cluster.sh(SERVER, &format!("printf %s {USER} | base64 -w0"));
    serde_json::json!({"auths": {at(cluster): {"auth": auth}}}).to_string()
}

/// The manifests that were asked for by HEAD since a time, and given out.
pub(crate) fn heads(cluster: &Cluster, since: &str) -> Vec<String> {
    let log = cluster.sh(SERVER, &format!("journalctl -u docker-registry -o cat --no-pager --since @{since}"));
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let asked = log.lines().map(words).filter_map(|words| {
        let at = words.iter().position(|word| word == "\"HEAD")?;
        let is_given = words.get(at + 3).is_some_and(|status| status == "200");
        is_given.then(|| words[at + 1].clone())
    });
    let mut asked: Vec<String> = asked.collect();
    asked.sort();
    asked
}
