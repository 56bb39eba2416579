//! Writes down on the machine which node it is: `node-identity` with the name, `current-node.yaml` with all that is known of it.
//!
//! Both are for scripts and people; the second has the form of a file in `nodes/`.

use std::path::PathBuf;

use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Content, Host};
use serde::Serialize;
use spec::Node;

use super::ids;
use crate::codes;
use nodekit::Layout;

/// The two files in the configuration directory.
pub struct NodeIdentity {
    config_dir: PathBuf,
    node: Node,
}

impl NodeIdentity {
    /// For this node.
    pub fn new(node: &Node, layout: &Layout) -> Self {
        Self { config_dir: layout.config_dir.clone(), node: node.clone() }
    }

    fn wanted(&self) -> Result<Vec<Change>, StepError> {
        let file = |name: &str, text: String| Change::File {
            path: self.config_dir.join(name),
            mode: 0o644,
            content: Content::Plain(text.into_bytes()),
        };
        Ok(vec![
            file("node-identity", format!("{}\n", self.node.name)),
            file("current-node.yaml", current_node(&self.node)?),
        ])
    }
}

impl Step for NodeIdentity {
    type Seen = Vec<Change>;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(
            ids::NODE_IDENTITY,
            "Note which node this is",
            "everything after this depends on the node's name and address",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Change>, StepError> {
        Ok(Change::missing(self.wanted()?, &*host.disk)?)
    }

    fn plan(&self, missing: &Vec<Change>) -> Result<Vec<Change>, StepError> {
        Ok(missing.clone())
    }
}

#[derive(Serialize)]
struct CurrentNode<'a> {
    node: Fields<'a>,
}

#[derive(Serialize)]
struct Fields<'a> {
    name: &'a str,
    hostname: &'a str,
    ip: String,
    roles: Vec<String>,
    hardware: HardwareFields<'a>,
}

#[derive(Serialize)]
struct HardwareFields<'a> {
    mac_addresses: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dmi_uuid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dmi_serial: Option<&'a str>,
}

fn current_node(node: &Node) -> Result<String, StepError> {
    let Node { name, hostname, ip, roles, hardware, osds: _ } = node;
    let fields = Fields {
        name,
        hostname,
        ip: ip.to_string(),
        roles: roles.iter().map(ToString::to_string).collect(),
        hardware: HardwareFields {
            mac_addresses: hardware.mac_addresses.iter().map(ToString::to_string).collect(),
            dmi_uuid: hardware.dmi_uuid.as_deref(),
            dmi_serial: hardware.dmi_serial.as_deref(),
        },
    };
    serde_saphyr::to_string(&CurrentNode { node: fields }).map_err(|error| {
        StepError::new(codes::NO_YAML, format!("cannot write node `{name}` as YAML")).with_source(error)
    })
}
