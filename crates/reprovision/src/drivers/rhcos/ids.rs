//! The names of the steps.

engine::step_ids! {
    MACHINE_CONFIG = "machine-config";
    KEPT = "kept";
    PIN_DEPLOYMENT = "pin-deployment";
    MCD_PULL = "mcd-pull";
    MCD = "mcd";
    BOOTED_IMAGE = "booted-image";
    CURRENT_CONFIG = "current-config";
    STALE_FILES = "stale-files";
}
