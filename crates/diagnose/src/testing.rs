//! What the tests of several checks share.

use spec::ValidatedCluster;

/// One master and one worker.
pub(crate) fn cluster() -> ValidatedCluster {
    let text = "cluster:
  name: demo
nodes:
- { name: master-01, ip: 10.0.0.11, roles: [master], hardware: { mac_addresses: ['52:54:00:00:00:11'] } }
- { name: worker-01, ip: 10.0.0.21, roles: [worker], hardware: { mac_addresses: ['52:54:00:00:00:21'] } }
";
    let checked = spec::check_text(text);
    checked.cluster.unwrap_or_else(|| panic!("{:?}", checked.problems))
}

/// A bootstrap node before a master.
pub(crate) fn with_bootstrap_node() -> ValidatedCluster {
    let text = "cluster:
  name: demo
nodes:
- { name: bootstrap, ip: 10.0.0.9, roles: [bootstrap], hardware: { mac_addresses: ['52:54:00:00:00:09'] } }
- { name: master-01, ip: 10.0.0.11, roles: [master], hardware: { mac_addresses: ['52:54:00:00:00:11'] } }
";
    let checked = spec::check_text(text);
    checked.cluster.unwrap_or_else(|| panic!("{:?}", checked.problems))
}
