//! What kubeadm needs besides the machines: itself, and a control plane in images. All of it is made from the bundle's own
//! programs, so that both tools start the same ones.

use std::{
    fs::{self, File},
    path::PathBuf,
    sync::Arc,
};

use bundle::{Builder, Cache, Component, Image, Sources, Stop, Update, Wanted, component::Arch};
use tempfile::TempDir;

use crate::machines::Machines;

/// What kubeadm wants to have as images. It would try to pull kube-proxy too, though that is never started here.
const IN_IMAGES: [&str; 5] = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy"];

/// What images of the bundle are called, and so those made here.
pub(crate) const REGISTRY: &str = "blackstart.local";

pub(crate) struct Kit {
    dir: TempDir,
}

impl Kit {
    /// From the user's cache of components, where they were made or are made now.
    pub(crate) fn new() -> Self {
        let kit = Self { dir: tempfile::tempdir().unwrap() };
        let builder = Builder {
            cache: Cache::of_user(),
            sources: Sources::default(),
            install_tools: true,
            stop: Stop::default(),
            progress: Arc::new(|_: &Update<'_>| {}),
        };
        let wanted = Wanted::default().only(&[IN_IMAGES.as_slice(), &["kubeadm"]].concat()).unwrap();
        builder.build(&kit.dir.path().join("bundle"), &wanted).unwrap();
        for name in IN_IMAGES {
            kit.make_image(name);
        }
        kit
    }

    /// Puts into machines what must be there before kubeadm starts.
    pub(crate) fn install(&self, machines: &Machines) {
        for machine in machines.names() {
            let kubeadm = File::open(self.program("kubeadm")).unwrap();
            let install = "cat > /usr/local/bin/kubeadm; chmod 755 /usr/local/bin/kubeadm";
            machines.sh_with(machine, install, kubeadm);
        }
        for master in machines.masters() {
            for name in IN_IMAGES {
                let image = File::open(self.image(name)).unwrap();
                machines.sh_with(master, "ctr --namespace k8s.io images import --local -", image);
            }
        }
    }

    fn make_image(&self, name: &str) {
        let image = Image {
            name: &format!("{REGISTRY}/{name}:{}", tag(name)),
            // kubeadm's pods name the program without its directory, which must be one where programs are looked for.
            program: &format!("usr/local/bin/{name}"),
            user: None,
            arch: Arch::of_this_machine().unwrap(),
            links: &[],
        };
        let to = self.image(name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        image.write(&self.program(name), &to).unwrap();
    }

    fn program(&self, name: &str) -> PathBuf {
        self.dir.path().join("bundle/bin").join(name)
    }

    fn image(&self, name: &str) -> PathBuf {
        self.dir.path().join("images").join(name)
    }
}

/// The tag by which kubeadm asks for an image: of Kubernetes' own ones the version with a `v`.
pub(crate) fn tag(component: &str) -> String {
    let version = Component::named(component).unwrap().version;
    if component.starts_with("kube") { format!("v{version}") } else { version.to_owned() }
}
