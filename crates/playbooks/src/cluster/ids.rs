//! The names of the steps that make a machine a node, in the order of the lists.

engine::step_ids! {
    NODE_IDENTITY = "node-identity";
    NODE_ROLE = "node-role";
    NETWORK = "network";
    HOST_NAME = "host-name";
    PREFLIGHT = "preflight";
    KERNEL_SETTINGS = "kernel-settings";
    UNITS = "units";
    CONTAINERD = "containerd";
    PAUSE_IMAGE = "pause-image";
    AGENT = "agent";
    SPLIT_BRAIN_GUARD = "split-brain-guard";
    CLUSTER_KEYS = "cluster-keys";
    PKI = "pki";
    ADMIN_KUBECONFIG = "admin-kubeconfig";
    ENCRYPTION_KEY = "encryption-key";
    KMS_PLUGIN = "kms-plugin";
    ETCD_JOIN = "etcd-join";
    ETCD = "etcd";
    ETCD_VOTE = "etcd-vote";
    ETCD_MEMBER = "etcd-member";
    API_TURN = "api-turn";
    KUBE_APISERVER = "kube-apiserver";
    KUBELET = "kubelet";
    API_READY = "api-ready";
    ROLES = "roles";
    NETWORK_ADD_ON = "network-add-on";
    NODE_READY = "node-ready";
    KUBE_CONTROLLER_MANAGER = "kube-controller-manager";
    KUBE_SCHEDULER = "kube-scheduler";
    KUBE_PROXY = "kube-proxy";
    CLUSTER_INFO = "cluster-info";
    JOIN_INFO = "join-info";
    IMAGES = "images";
    OWN_IMAGE = "own-image";
    DNS = "dns";
    CLUSTER_DNS = "cluster-dns";
    AWAIT_MASTER = "await-master";
    JOIN = "join";
    RECORD = "record";
    OWN_UNITS = "own-units";
    PROGRAM = "program";
    CONFIGURATION = "configuration";
    COMPONENTS = "components";
}
