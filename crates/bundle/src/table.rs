//! Which components there are, in which version, and where each comes from. Nothing else knows.
//!
//! To move to another version: change its line below. To add a component: one row in [`COMPONENTS`]; it is then found,
//! fetched, built, checked, cached and packed like all others. What the columns mean, and what may stand in braces, is
//! in [`crate::component`].

use crate::{
    BundleError,
    component::{Build, C, Component, Go, Library, Program, Release, Shape, program},
    error::one_of,
};

const KUBERNETES: &str = "1.36.3";
const ETCD: &str = "3.7.3";
const CONTAINERD: &str = "2.4.2";
const RUNC: &str = "1.5.2";
const CNI_PLUGINS: &str = "1.9.1";
const COREDNS: &str = "1.15.0";
/// Follows Kubernetes' minor version.
const CRI_TOOLS: &str = "1.36.0";
/// Reads spec 3.6 and all before it; ours are 3.2.
const IGNITION: &str = "2.26.0";
/// The tag in `build/pause/Makefile` of that Kubernetes version.
const PAUSE: &str = "3.10.2";

/// The Go toolchain that compiles; pinned, so that the same sources give the same sums everywhere.
pub const GO: &str = "1.26.10";

impl Component {
    /// The row of this name.
    pub fn named(name: &str) -> Result<&'static Self, BundleError> {
        COMPONENTS.iter().find(|component| component.name == name).ok_or_else(|| BundleError::Unknown {
            name: name.to_owned(),
            known: one_of(COMPONENTS.iter().map(|component| component.name)),
        })
    }
}

/// Everything a cluster is made of.
#[rustfmt::skip]
pub const COMPONENTS: &[Component] = &[
    kubernetes("kube-apiserver",          &[program("kube-apiserver",          "k8s.io/kubernetes/cmd/kube-apiserver",          &["--version"])]),
    kubernetes("kube-controller-manager", &[program("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager", &["--version"])]),
    kubernetes("kube-scheduler",          &[program("kube-scheduler",          "k8s.io/kubernetes/cmd/kube-scheduler",          &["--version"])]),
    kubernetes("kubelet",                 &[program("kubelet",                 "k8s.io/kubernetes/cmd/kubelet",                 &["--version"])]),
    kubernetes("kubectl",                 &[program("kubectl",                 "k8s.io/kubernetes/cmd/kubectl",                 &["version", "--client"])]),
    kubernetes("kube-proxy",              &[program("kube-proxy",              "k8s.io/kubernetes/cmd/kube-proxy",              &["--version"])]),
    Component { extra: true, ..
    kubernetes("kubeadm",                 &[program("kubeadm",                 "k8s.io/kubernetes/cmd/kubeadm",                 &["version", "-o", "short"])]) },
    Component {
        name: "etcd",
        version: ETCD,
        extra: false,
        shape: Shape::Programs { dir: "bin" },
        programs: &[
            program("etcd",    "go.etcd.io/etcd/server/v3",  &["--version"]),
            program("etcdctl", "go.etcd.io/etcd/etcdctl/v3", &["version"]),
            program("etcdutl", "go.etcd.io/etcd/etcdutl/v3", &["version"]),
        ],
        release: Some(Release {
            base: "https://github.com/etcd-io/etcd/releases/download/v{version}",
            asset: "etcd-v{version}-linux-{arch}.tar.gz",
            sums: "SHA256SUMS",
            member: Some("etcd-v{version}-linux-{arch}/{program}"),
        }),
        build: Build::Go(Go {
            modules: &["go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/etcdctl/v3", "go.etcd.io/etcd/etcdutl/v3"],
            ..PLAIN_GO
        }),
    },
    Component {
        name: "containerd",
        version: CONTAINERD,
        extra: false,
        shape: Shape::Programs { dir: "bin" },
        programs: &[
            program("containerd",              "github.com/containerd/containerd/v2/cmd/containerd",              &["--version"]),
            program("containerd-shim-runc-v2", "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2", &["-v"]),
            program("ctr",                     "github.com/containerd/containerd/v2/cmd/ctr",                     &["--version"]),
        ],
        release: Some(Release {
            base: "https://github.com/containerd/containerd/releases/download/v{version}",
            asset: "containerd-static-{version}-linux-{arch}.tar.gz",
            sums: "{asset}.sha256sum",
            member: Some("bin/{program}"),
        }),
        build: Build::Go(Go {
            modules: &["github.com/containerd/containerd/v2"],
            tags: &["no_btrfs", "no_devmapper", "no_zfs", "urfave_cli_no_docs"],
            variables: &["github.com/containerd/containerd/v2/version.Version=v{version}"],
            ..PLAIN_GO
        }),
    },
    Component {
        name: "runc",
        version: RUNC,
        extra: false,
        shape: Shape::Programs { dir: "bin" },
        programs: &[program("runc", "github.com/opencontainers/runc", &["--version"])],
        release: Some(Release {
            base: "https://github.com/opencontainers/runc/releases/download/v{version}",
            asset: "runc.{arch}",
            sums: "runc.sha256sum",
            member: None,
        }),
        build: Build::Go(Go {
            modules: &["github.com/opencontainers/runc"],
            tags: &["seccomp", "urfave_cli_no_docs", "netgo", "osusergo"],
            // It joins namespaces in C, before Go's runtime starts its threads.
            cgo: true,
            libraries: &[Library { name: "libseccomp", package: "libseccomp-dev" }],
            ..PLAIN_GO
        }),
    },
    Component {
        name: "cni-plugins",
        version: CNI_PLUGINS,
        extra: false,
        shape: Shape::Programs { dir: "cni" },
        programs: &[
            program("bridge",     "github.com/containernetworking/plugins/plugins/main/bridge",     &[]),
            program("host-local", "github.com/containernetworking/plugins/plugins/ipam/host-local", &[]),
            program("loopback",   "github.com/containernetworking/plugins/plugins/main/loopback",   &[]),
            program("portmap",    "github.com/containernetworking/plugins/plugins/meta/portmap",    &[]),
            program("ptp",        "github.com/containernetworking/plugins/plugins/main/ptp",        &[]),
        ],
        release: Some(Release {
            base: "https://github.com/containernetworking/plugins/releases/download/v{version}",
            asset: "cni-plugins-linux-{arch}-v{version}.tgz",
            sums: "{asset}.sha256",
            member: Some("./{program}"),
        }),
        build: Build::Go(Go {
            modules: &["github.com/containernetworking/plugins"],
            variables: &["github.com/containernetworking/plugins/pkg/utils/buildversion.BuildVersion=v{version}"],
            ..PLAIN_GO
        }),
    },
    Component {
        name: "crictl",
        version: CRI_TOOLS,
        extra: false,
        shape: Shape::Programs { dir: "bin" },
        programs: &[program("crictl", "sigs.k8s.io/cri-tools/cmd/crictl", &["--version"])],
        release: Some(Release {
            base: "https://github.com/kubernetes-sigs/cri-tools/releases/download/v{version}",
            asset: "crictl-v{version}-linux-{arch}.tar.gz",
            sums: "{asset}.sha256",
            member: Some("crictl"),
        }),
        build: Build::Go(Go {
            modules: &["sigs.k8s.io/cri-tools"],
            variables: &["sigs.k8s.io/cri-tools/pkg/version.Version=v{version}"],
            ..PLAIN_GO
        }),
    },
    Component {
        name: "coredns",
        version: COREDNS,
        extra: false,
        shape: Shape::Image { user: None },
        programs: &[program("coredns", "github.com/coredns/coredns", &["-version"])],
        release: Some(Release {
            base: "https://github.com/coredns/coredns/releases/download/v{version}",
            asset: "coredns_{version}_linux_{arch}.tgz",
            sums: "{asset}.sha256",
            member: Some("coredns"),
        }),
        build: Build::Go(Go { modules: &["github.com/coredns/coredns"], ..PLAIN_GO }),
    },
    Component {
        name: "pause",
        version: PAUSE,
        extra: false,
        // As upstream's image: it needs no rights at all.
        shape: Shape::Image { user: Some("65535:65535") },
        programs: &[program("pause", "", &["-v"])],
        // Published as an image only; its source is published with Kubernetes.
        release: Some(Release {
            base: "https://dl.k8s.io/release/v{source}",
            asset: "kubernetes-src.tar.gz",
            sums: "{asset}.sha256",
            member: Some("build/pause/linux/pause.c"),
        }),
        build: Build::C(C { module: "k8s.io/kubernetes", version: KUBERNETES, file: "build/pause/linux/pause.c" }),
    },
    // Of the lab, for the first boot of its machines; on metal it is a part of the operating system.
    Component {
        name: "ignition",
        version: IGNITION,
        extra: true,
        shape: Shape::Programs { dir: "bin" },
        programs: &[
            program("ignition",          "github.com/coreos/ignition/v2/internal", &["--version"]),
            program("ignition-validate", "github.com/coreos/ignition/v2/validate", &["--version"]),
        ],
        release: None,
        build: Build::Go(Go {
            modules: &["github.com/coreos/ignition/v2"],
            tags: &["netgo", "osusergo"],
            variables: &[
                "github.com/coreos/ignition/v2/internal/version.Raw=v{version}",
                // Debian's sshd reads `authorized_keys` and no fragments of it, and there is no SELinux.
                "github.com/coreos/ignition/v2/internal/distro.writeAuthorizedKeysFragment=false",
                "github.com/coreos/ignition/v2/internal/distro.selinuxRelabel=false",
            ],
            // It looks for users in the machine's root, and for disks, in C.
            cgo: true,
            libraries: &[Library { name: "blkid", package: "libblkid-dev" }],
            ..PLAIN_GO
        }),
    },
];

/// What almost every Go component needs.
const PLAIN_GO: Go = Go { modules: &[], staging: false, tags: &[], variables: &[], cgo: false, libraries: &[] };

const fn kubernetes(name: &'static str, programs: &'static [Program]) -> Component {
    Component {
        name,
        version: KUBERNETES,
        extra: false,
        shape: Shape::Programs { dir: "bin" },
        programs,
        release: Some(Release {
            base: "https://dl.k8s.io/release/v{version}/bin/linux/{arch}",
            asset: "{program}",
            sums: "{asset}.sha256",
            member: None,
        }),
        build: Build::Go(Go {
            modules: &["k8s.io/kubernetes"],
            staging: true,
            variables: &[
                "k8s.io/component-base/version.gitVersion=v{version}",
                "k8s.io/component-base/version.gitMajor={major}",
                "k8s.io/component-base/version.gitMinor={minor}",
                "k8s.io/component-base/version.gitTreeState=clean",
                "k8s.io/client-go/pkg/version.gitVersion=v{version}",
                "k8s.io/client-go/pkg/version.gitMajor={major}",
                "k8s.io/client-go/pkg/version.gitMinor={minor}",
                "k8s.io/client-go/pkg/version.gitTreeState=clean",
            ],
            ..PLAIN_GO
        }),
    }
}

/// A text with versions replaced, so that a new version does not change what tests expect.
#[cfg(test)]
pub(crate) fn without_versions(text: &str) -> String {
    COMPONENTS.iter().fold(text.replace(GO, "GO"), |text, component| text.replace(component.version, "VERSION"))
}
