//! The names of the steps that remove a node.

engine::step_ids! {
    BOOTSTRAP_OFF = "bootstrap-off";
    CORDON = "cordon";
    DRAIN = "drain";
    ETCD_MEMBER = "etcd-member";
    PODS = "pods";
    NODE_OBJECT = "node-object";
    CLEANUP = "cleanup";
    MASTERS_LEAD = "masters-lead";
    COMPLETE = "bootstrap-complete";
}
