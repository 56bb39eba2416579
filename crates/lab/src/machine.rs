//! One machine: its directory, what is put into it, and what can be seen of it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use engine::Runner;
use host::Host;
use nodekit::Layout;
use playbooks::cluster::{self, Installation};

use crate::{Capabilities, Lab, LabError, MachineRecord, base, cgroup::MachineGroups};

/// A machine of a lab.
pub struct Machine<'a> {
    pub(crate) lab: &'a Lab,
    pub(crate) record: &'a MachineRecord,
    pub(crate) groups: MachineGroups,
    capabilities: &'a Capabilities,
}

impl<'a> Machine<'a> {
    /// The machine of that name.
    pub fn new(lab: &'a Lab, name: &str, capabilities: &'a Capabilities) -> Result<Self, LabError> {
        let record = lab.machine(name)?;
        let groups = capabilities.cgroups.machine(lab.name.as_str(), &record.name);
        Ok(Self { lab, record, groups, capabilities })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.record.name
    }

    /// Everything the machine has on this computer.
    pub fn dir(&self) -> PathBuf {
        self.lab.machine_dir(&self.record.name)
    }

    /// The config that Ignition is still to set it up with.
    pub(crate) fn pending_config(&self) -> PathBuf {
        self.dir().join("config.ign")
    }

    /// What the machine itself has written or been given, over the shared image.
    pub fn upper(&self) -> PathBuf {
        self.dir().join("upper")
    }

    /// Whether everything is in place for a first boot.
    pub(crate) fn is_created(&self) -> bool {
        self.dir().join("created").exists()
    }

    /// From now on it has to be made again.
    pub(crate) fn forget(&self) -> Result<(), LabError> {
        match fs::remove_file(self.dir().join("created")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(LabError::while_doing(format!("forget {}", self.record.name))(error))
            }
            _ => Ok(()),
        }
    }

    /// Puts everything in place. What a killed run left half-made is made again, and what still runs of a machine whose
    /// directory is gone is ended; a machine that was complete is not touched.
    pub(crate) async fn create(&self, config: &Path) -> Result<(), LabError> {
        let dir = self.dir();
        self.groups.end()?;
        let failed = |doing: &str| LabError::while_doing(format!("{doing} {}", dir.display()));
        match fs::remove_dir_all(&dir) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed("remove")(error)),
            _ => {}
        }
        for name in ["upper", "work", "root", "containerd", "kubelet"] {
            fs::create_dir_all(dir.join(name)).map_err(failed("create"))?;
        }
        let upper = self.upper();
        let ignition = self.lab.config_of(&self.record.name);
        if ignition.is_none() {
            base::write(&upper.join("etc/hostname"), &format!("{}\n", self.record.name))?;
        }
        base::write(
            &upper.join("etc/hosts"),
            &format!("127.0.0.1 localhost\n::1 localhost\n{} {}\n", self.record.ip, self.record.name),
        )?;
        base::write_secret(&upper.join("etc/NetworkManager/system-connections/lab.nmconnection"), &self.connection())?;
        let unit = "etc/systemd/system/blackstart-lab.service";
        base::write(&upper.join(unit), &self.capabilities.first_unit())?;
        let wants = upper.join("etc/systemd/system/sysinit.target.wants");
        fs::create_dir_all(&wants).map_err(failed("create"))?;
        std::os::unix::fs::symlink("../blackstart-lab.service", wants.join("blackstart-lab.service"))
            .map_err(failed("write a link in"))?;
        if let Some(config) = ignition {
            let failed = |source| LabError::NoConfig { path: config.clone(), source };
            base::write_secret(&self.pending_config(), &fs::read_to_string(&config).map_err(failed)?)?;
        } else if self.lab.with_cluster {
            self.install().await?;
        } else {
            for name in config_files(config)? {
                let from = config.join(&name);
                let text =
                    fs::read_to_string(&from).map_err(LabError::while_doing(format!("read {}", from.display())))?;
                base::write_secret(&upper.join("etc/cluster-config").join(&name), &text)?;
            }
        }
        base::write(&dir.join("created"), "")
    }

    /// What `blackstart node install` does on metal, into the machine's directory: units and the node's sealed directory.
    async fn install(&self) -> Result<(), LabError> {
        let layout = Layout::default();
        let sealed = self.lab.sealed_dir().join(&self.record.name);
        let installation = Installation { program: None, bundle: None, config: Some(&sealed), layout: &layout };
        let failed =
            |why: String| LabError::while_doing(format!("install {}", self.record.name))(io::Error::other(why));
        let playbook = cluster::install(&installation).map_err(|error| failed(error.to_string()))?;
        let runner = Runner::new(Host::rooted(self.upper()), &layout.state_dir, &self.record.name);
        let report = runner.run(&playbook).await.map_err(|error| failed(error.to_string()))?;
        match report.failed.first() {
            Some(failure) => Err(failed(format!("step `{}`: {}", failure.step, explain::chain(&failure.error)))),
            None => Ok(()),
        }
    }

    /// Enough network to be reached, until the cluster's own network step takes over.
    fn connection(&self) -> String {
        let (ip, prefix) = (self.record.ip, self.lab.subnet.prefix_len());
        let gateway = self.lab.gateway.map(|gateway| format!(",{gateway}")).unwrap_or_default();
        let dns = crate::network::name_servers().join(";");
        format!(
            "[connection]\nid=lab\ntype=ethernet\n\n[ethernet]\nmac-address={}\n\n\
             [ipv4]\nmethod=manual\naddress1={ip}/{prefix}{gateway}\ndns={dns}\n\n[ipv6]\nmethod=disabled\n",
            self.record.mac
        )
    }
}

/// cluster.yaml and nodes/*.yaml, and nothing else that may lie beside them.
pub(crate) fn config_files(dir: &Path) -> Result<Vec<PathBuf>, LabError> {
    let mut files = vec![PathBuf::from("cluster.yaml")];
    let nodes = match fs::read_dir(dir.join("nodes")) {
        Ok(entries) => entries.flatten().map(|entry| entry.file_name()).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(LabError::while_doing(format!("list {}", dir.join("nodes").display()))(error)),
    };
    files.extend(
        nodes.iter().map(|name| Path::new("nodes").join(name)).filter(|path| path.extension() == Some("yaml".as_ref())),
    );
    Ok(files)
}
