//! The names of Ceph's steps; they are in the list of the playbook `cluster`.

engine::step_ids! {
    PACKAGES = "ceph-packages";
    KEYS = "ceph-keys";
    CONF = "ceph-conf";
    MON = "ceph-mon";
    INITIALIZED = "ceph-initialized";
    MGR = "ceph-mgr";
    OSD_DATA = "ceph-osd-data";
    OSD = "ceph-osd";
    MANAGERS = "ceph-managers";
    DASHBOARD = "ceph-dashboard";
    DASHBOARD_USER = "ceph-dashboard-user";
    HEALTHY = "ceph-healthy";
    BOOTSTRAPPED = "ceph-bootstrapped";
}
