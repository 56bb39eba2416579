//! `ceph osd tree`: where each OSD is, and how.

use serde::Deserialize;

/// Everything that Ceph knows of places: roots, hosts, OSDs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Tree {
    nodes: Vec<Branch>,
    #[serde(default)]
    stray: Vec<Branch>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Branch {
    id: i64,
    name: String,
    r#type: String,
    #[serde(default)]
    children: Vec<i64>,
    #[serde(default)]
    status: String,
    #[serde(default)]
    reweight: f64,
}

/// An OSD and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// Its number.
    pub id: i64,
    /// The host it is on; `None` for one that never ran.
    pub host: Option<String>,
    /// Whether it answers.
    pub is_up: bool,
    /// Whether it holds data.
    pub is_in: bool,
}

impl Tree {
    /// The OSDs, by number.
    pub fn osds(&self) -> Vec<Leaf> {
        let host = |id: i64| {
            let hosts = self.nodes.iter().filter(|branch| branch.r#type == "host");
            hosts.into_iter().find(|host| host.children.contains(&id)).map(|host| host.name.clone())
        };
        let leaf = |branch: &Branch| Leaf {
            id: branch.id,
            host: host(branch.id),
            is_up: branch.status == "up",
            is_in: branch.reweight > 0.0,
        };
        let all = self.nodes.iter().chain(&self.stray);
        let mut osds: Vec<Leaf> = all.filter(|branch| branch.r#type == "osd").map(leaf).collect();
        osds.sort_by_key(|osd| osd.id);
        osds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_osd_has_its_host() {
        let tree: Tree = serde_json::from_str(
            r#"{"nodes":[
                {"id":-1,"name":"default","type":"root","type_id":11,"children":[-5,-3]},
                {"id":-3,"name":"m1","type":"host","type_id":1,"pool_weights":{},"children":[0]},
                {"id":0,"device_class":"ssd","name":"osd.0","type":"osd","type_id":0,"crush_weight":0.009,"depth":2,
                 "pool_weights":{},"exists":1,"status":"up","reweight":1,"primary_affinity":1},
                {"id":-5,"name":"m2","type":"host","type_id":1,"pool_weights":{},"children":[1]},
                {"id":1,"device_class":"ssd","name":"osd.1","type":"osd","type_id":0,"crush_weight":0.009,"depth":2,
                 "pool_weights":{},"exists":1,"status":"down","reweight":0,"primary_affinity":1}],
                "stray":[{"id":2,"name":"osd.2","type":"osd","type_id":0,"crush_weight":0,"depth":0,"exists":1,
                          "status":"down","reweight":0,"primary_affinity":1}]}"#,
        )
        .unwrap();
        let leaf = |id, host: Option<&str>, is_up, is_in| Leaf { id, host: host.map(str::to_owned), is_up, is_in };
        let expected =
            [leaf(0, Some("m1"), true, true), leaf(1, Some("m2"), false, false), leaf(2, None, false, false)];
        assert_eq!(tree.osds(), expected);
    }
}
