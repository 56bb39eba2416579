//! Writes everything that is rendered for a node below a directory, to look at it or to try it with the real programs.
//!
//! ```text
//! cargo run -p render --example write -- examples/home master-01 /tmp/master-01
//! ```

use std::{env, error::Error, fs, path::Path};

use render::{Cgroup, EtcdFiles, Machine, RenderedFile, Service, network, objects, units};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [config, name, out] = arguments.as_slice() else {
        return Err("usage: write CONFIG_DIR NODE OUT_DIR".into());
    };
    let cluster =
        spec::check_dir(Path::new(config)).cluster.ok_or("the configuration has errors: see `blackstart check`")?;
    let node = cluster.node(name).ok_or("no such node")?;
    let machine = Machine {
        cgroup: if Path::new("/sys/fs/cgroup/cgroup.controllers").exists() { Cgroup::V2 } else { Cgroup::V1 },
        may_raise_limits: false,
        may_size_conntrack: false,
        has_own_disk: false,
        resolv_conf: "/etc/resolv.conf".into(),
    };
    let etcd = EtcdFiles {
        initial: Path::new("/var/lib/etcd/initial.env"),
        data: Path::new("/var/lib/etcd/member"),
        member_id: Path::new("/var/lib/cluster-state/etcd-member-id"),
    };
    let services = [
        units::detect(),
        units::bootstrap(),
        units::agent(),
        render::containerd(&machine, "blackstart.local/pause:3.10.2"),
        render::etcd(&cluster, node, etcd),
        render::kube_apiserver(&cluster, node),
        render::kube_controller_manager(&cluster, node),
        render::kube_scheduler(&cluster, node),
        render::kubelet(&cluster, node, &machine),
        render::kube_proxy(&cluster, node, &machine),
    ];
    let out = Path::new(out);
    for service in &services {
        write_service(out, service)?;
    }
    write(out, &network::unmanaged())?;
    if let Some(mac) = node.hardware.mac_addresses.first() {
        write(out, &network::connection(&cluster, node, *mac))?;
    }
    let server = format!("https://{}:{}", node.ip, cluster.api().port);
    let token = objects::token("abcdef", "0123456789abcdef", None, Some(name), "a sample");
    let sets = [
        objects::rbac(&cluster),
        objects::kubeadm(&cluster, "", &server),
        objects::coredns(&cluster, "blackstart.local/coredns:1.15.0", objects::Upstream::OfNode),
        vec![token],
    ];
    let items: Vec<Value> = sets.into_iter().flatten().collect();
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": items });
    fs::write(out.join("objects.json"), format!("{list:#}\n"))?;
    Ok(())
}

fn write_service(out: &Path, service: &Service) -> Result<(), Box<dyn Error>> {
    write(out, &service.unit_file())?;
    service.files.iter().try_for_each(|file| write(out, file))
}

fn write(out: &Path, file: &RenderedFile) -> Result<(), Box<dyn Error>> {
    let path = out.join(file.path.strip_prefix("/")?);
    fs::create_dir_all(path.parent().ok_or("a file without a directory")?)?;
    Ok(fs::write(path, &file.text)?)
}
