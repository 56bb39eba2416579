//! The names of the steps that remove a node.

engine::step_ids! {
    CORDON = "cordon";
    DRAIN = "drain";
    ETCD_MEMBER = "etcd-member";
    NODE_OBJECT = "node-object";
    CLEANUP = "cleanup";
}
