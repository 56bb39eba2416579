//! The beginning of a lab: its record, its configuration and its copy of this program.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use host::RealDisk;
use ipnet::{IpNet, Ipv4Net};
use join::seal::Sources;
use spec::ValidatedCluster;

use crate::{
    Lab, LabError, LabName, MachineRecord, Shape, base, cluster_yaml, lock::Lock, network, record, settings, subnet,
    supervise,
};

/// Megabytes that a few machines write before anybody does anything with them.
const NEEDED_MB: u64 = 500;

/// What a lab is made from.
pub struct Plan<'a> {
    /// Which machines.
    pub machines: Machines<'a>,
    /// Whether they become a cluster, or only boot.
    pub with_cluster: bool,
    /// Whether Ignition sets the machines up at their first boot, as on metal, in place of `node install`.
    pub with_ignition: bool,
    /// Whether machines with a role in Ceph have its packages from the beginning. Without this they fetch them, as on
    /// metal.
    pub with_ceph: bool,
}

/// Which machines a lab has.
pub enum Machines<'a> {
    /// This many machines, in a network that is free.
    Shape(Shape),
    /// The machines of a configuration directory.
    Config(&'a Path),
}

/// A lab to be worked on. No other process boots or removes it until this is dropped.
pub struct Prepared {
    /// The lab.
    pub lab: Arc<Lab>,
    _lock: Lock,
}

/// Opens a lab, or begins one. A lab that exists keeps its machines.
pub fn prepare(name: &LabName, plan: &Plan<'_>) -> Result<Prepared, LabError> {
    let _all_labs = Lock::of_all_labs(Path::new(record::HOME))?;
    // A directory that stays behind would look like a lab.
    open_or_begin(name, plan).inspect_err(|_| record::tidy())
}

fn open_or_begin(name: &LabName, plan: &Plan<'_>) -> Result<Prepared, LabError> {
    let dir = Lab::dir(name);
    let is_new = !dir.exists();
    if is_new {
        base::check_space(Path::new(record::HOME), NEEDED_MB)?;
    }
    let lock = Lock::of_lab(name.as_str(), &dir)?;
    let lab = match Lab::open(name) {
        Err(LabError::UnknownLab(_) | LabError::Unfinished(_)) => begin(name, plan).inspect_err(|_| {
            if is_new {
                // If this fails too, the first error is the one to return.
                let _ = fs::remove_dir_all(&dir);
            }
        }),
        opened => opened,
    }?;
    settings::note()?;
    settings::make_room()?;
    copy_program(&lab)?;
    Ok(Prepared { lab: Arc::new(lab), _lock: lock })
}

fn begin(name: &LabName, plan: &Plan<'_>) -> Result<Lab, LabError> {
    let dir = Lab::dir(name);
    let config = dir.join("config");
    match &plan.machines {
        Machines::Shape(shape) => {
            let text = cluster_yaml(name.as_str(), *shape, subnet::choose(&taken()?)?, &network::name_servers());
            base::write(&config.join("cluster.yaml"), &text)?;
        }
        Machines::Config(from) => copy_tree(from, &config)?,
    }
    let cluster = spec::check_dir(&config).cluster.ok_or_else(|| match &plan.machines {
        Machines::Shape(_) => LabError::Config(config.clone()),
        Machines::Config(from) => LabError::Config(from.to_path_buf()),
    })?;
    if let Machines::Config(from) = &plan.machines {
        copy_add_on(from, &config, &cluster)?;
    }
    let lab = record(name, &cluster, plan)?;
    if let Some(by) = subnet::in_the_way(&taken()?, lab.subnet) {
        return Err(LabError::SubnetTaken { wanted: lab.subnet, by });
    }
    let path = dir.join("lab.json");
    let text = serde_json::to_vec_pretty(&lab).map_err(|source| LabError::Record { path: path.clone(), source })?;
    record::replace(&path, &text)?;
    Ok(lab)
}

fn record(name: &LabName, cluster: &ValidatedCluster, plan: &Plan<'_>) -> Result<Lab, LabError> {
    let net = match cluster.networking().node_cidr {
        IpNet::V4(net) => net,
        net @ IpNet::V6(_) => return Err(LabError::NotIpv4(net)),
    };
    let machines = cluster.machines().enumerate().map(|(index, node)| MachineRecord {
        name: node.name.clone(),
        index,
        ip: node.ip,
        mac: node.hardware.mac_addresses.first().map_or_else(|| made_up_mac(net, index), ToString::to_string),
        ceph: plan.with_ceph && node.has_ceph_role(),
    });
    let gateway = cluster.networking().gateway;
    let (machines, with_cluster, with_ignition) = (machines.collect(), plan.with_cluster, plan.with_ignition);
    Ok(Lab { name: name.clone(), subnet: net, gateway, with_cluster, with_ignition, machines })
}

/// For a node whose configuration lists none; such a machine is given its name.
fn made_up_mac(net: Ipv4Net, index: usize) -> String {
    let [a, b, c, _] = net.network().octets();
    format!("52:54:{a:02x}:{b:02x}:{c:02x}:{:02x}", index % 256)
}

fn taken() -> Result<Vec<IpNet>, LabError> {
    let path = "/proc/net/route";
    let table = fs::read_to_string(path).map_err(LabError::while_doing(format!("read {path}")))?;
    let mut taken = subnet::routed(&table);
    for name in Lab::names()? {
        if let Ok(lab) = Lab::open(&name) {
            taken.push(IpNet::V4(lab.subnet));
        }
    }
    Ok(taken)
}

fn copy_tree(from: &Path, to: &Path) -> Result<(), LabError> {
    for name in crate::machine::config_files(from)? {
        let text = fs::read_to_string(from.join(&name))
            .map_err(LabError::while_doing(format!("read {}", from.join(&name).display())))?;
        base::write_secret(&to.join(&name), &text)?;
    }
    Ok(())
}

/// What the configuration refers to, and sealing will look for.
fn copy_add_on(from: &Path, to: &Path, cluster: &ValidatedCluster) -> Result<(), LabError> {
    let failed = |error: host::HostError| LabError::while_doing("copy the network add-on".to_owned())(error.source);
    let sources =
        Sources::read(&RealDisk::new("/"), &std::path::absolute(from).unwrap_or_else(|_| from.to_path_buf()), cluster);
    for (name, text) in sources.map_err(failed)?.add_on {
        base::write_secret(&to.join(name), &String::from_utf8_lossy(&text))?;
    }
    Ok(())
}

fn copy_program(lab: &Lab) -> Result<(), LabError> {
    let to = supervise::program(lab);
    let fresh: PathBuf = to.with_extension("new");
    let failed = || LabError::while_doing(format!("copy this program to {}", to.display()));
    let own = std::env::current_exe().map_err(failed())?;
    if fs::read(&to).is_ok_and(|there| fs::read(&own).is_ok_and(|own| own == there)) {
        return Ok(());
    }
    fs::copy(own, &fresh).map_err(failed())?;
    fs::rename(fresh, &to).map_err(failed())
}
