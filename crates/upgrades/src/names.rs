//! What things are called in the cluster. The manifests in `infrastructure/in-place` say the same; a test compares.

/// Where everything lives.
pub const NAMESPACE: &str = "ipb-system";
/// The group of our kinds, and the prefix of our annotations.
pub const GROUP: &str = "blackstart.io";
/// Of our kinds.
pub const VERSION: &str = "v1alpha1";
/// The `DaemonSet` whose pods are the door to a node, its service account, and the value of the label `app` of its pods.
pub const DAEMON_SET: &str = "ipb-daemonset";
/// The Deployment of the controller, its service account, and the value of the label `app` of its pods.
pub const CONTROLLER: &str = "ipb-controller";
/// The `ConfigMap` that lets the agents of a Blackstart cluster do the work of both, and says how many nodes at once.
pub const AGENTS: &str = "ipb-agents";
/// Its key: how many nodes that are no masters may be taken away at once.
pub const MAX_UNAVAILABLE: &str = "maxUnavailable";

/// The label of a Node by which a user asks for the work. Only the value `true` counts.
pub const SCHEDULE_LABEL: &str = "ibm-cloud.kubernetes.io/ipb-schedule";
/// The value of it that counts.
pub const SCHEDULED: &str = "true";
/// The label of Secrets that are meant for us.
pub const SECRET_LABEL: &str = "blackstart.io/ipb";
/// The annotation of a Node with what it is to do: an [`Order`](crate::Order).
pub const ORDER_ANNOTATION: &str = "blackstart.io/upgrade-order";
/// The annotation of a Node with how far it is: a [`NodeReport`](crate::NodeReport).
pub const REPORT_ANNOTATION: &str = "blackstart.io/upgrade-report";
/// The annotation of a Node with the run whose order was removed last: so that the end of a run always changes its Node.
pub const ENDED_ANNOTATION: &str = "blackstart.io/upgrade-ended";
/// The annotation of a `NodeUpgrade` by which a user asks for another attempt: any new value.
pub const RETRY_ANNOTATION: &str = "blackstart.io/retry";
/// The annotation of a `NodeUpgrade` with the state of the plan that it was begun for.
pub const PLAN_ANNOTATION: &str = "blackstart.io/plan";
/// The annotation of a `NodeUpgrade` by which a user stops it before the commit: any new value.
pub const ABORT_ANNOTATION: &str = "blackstart.io/abort";
/// Keeps a `NodeUpgrade` until its node is as it was.
pub const FINALIZER: &str = "blackstart.io/restore";

/// The Secret of a node, where its object names no other. Never one that the Node names: its kubelet could name any.
pub fn secret(node: &str) -> String {
    format!("ipb-{node}")
}

/// Whom the API server knows the controller as, whoever runs it.
pub fn controller_account() -> String {
    format!("system:serviceaccount:{NAMESPACE}:{CONTROLLER}")
}

/// Keys of a Secret. Which driver it is for is known by which of them it has.
pub mod key {
    /// Where a node fetches its Ignition config.
    pub const IGNITION_URL: &str = "ignition-url";
    /// What proves that it may.
    pub const IGNITION_TOKEN: &str = "ignition-token";
    /// The CA of that server, or of the bootstrap API.
    pub const CA: &str = "ca.crt";
    /// Where a node fetches its bootstrap payload.
    pub const BOOTSTRAP_URL: &str = "bootstrap-url";
    /// What proves that it may.
    pub const BOOTSTRAP_TOKEN: &str = "bootstrap-token";
    /// Whose payload it is.
    pub const WORKER: &str = "worker-id";
    /// Of which cluster.
    pub const CLUSTER: &str = "cluster-id";
    /// Where that is.
    pub const REGION: &str = "region";
    /// The SHA-256 that the payload must have, in hex.
    pub const SHA256: &str = "sha256";
    /// Credentials for registries, as `.dockerconfigjson` has them.
    pub const PULL_SECRET: &str = "pull-secret";
    /// A registry that the node must reach: `host` or `host:port`. For RHEL, whose payload names none.
    pub const REGISTRY: &str = "registry";
    /// Until when the token holds, as RFC 3339 has it.
    pub const EXPIRES: &str = "expires";
    /// Where progress is reported to.
    pub const PROGRESS_URL: &str = "progress-url";
    /// What proves that we may, and what reports are signed with.
    pub const PROGRESS_TOKEN: &str = "progress-token";
    /// The CA of that server.
    pub const PROGRESS_CA: &str = "progress-ca.crt";
    /// `true`: a node is not touched while progress cannot be reported.
    pub const PROGRESS_REQUIRED: &str = "progress-required";

    /// Keys that only the node needs: they are removed from the Secret once it has used them.
    pub const OF_THE_NODE: [&str; 4] = [IGNITION_TOKEN, BOOTSTRAP_TOKEN, PULL_SECRET, CA];
}
