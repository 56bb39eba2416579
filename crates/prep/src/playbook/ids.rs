//! The names of the steps that prepare a machine.

engine::step_ids! {
    PACKAGES = "packages";
    INITIATOR_NAME = "initiator-name";
    ISCSI_KERNEL = "iscsi-kernel";
    ISCSID = "iscsid";
    ISCSI_PROOF = "iscsi-proof";
    TRUE_MARKER = "true-marker";
    GPU_MODULES = "gpu-modules";
    PACKAGE_SOURCE = "package-source";
    GPU_PROOF = "gpu-proof";
    MARKER = "marker";
}
