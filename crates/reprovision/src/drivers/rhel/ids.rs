//! Names of the steps.

engine::step_ids! {
    KEPT = "kept";
    STAGE_1 = "stage-1";
    STAGE_2 = "stage-2";
}
