//! A sealed cluster in a temporary directory, and its first master's join service on loopback.
//!
//! Every node would come from its own address; here all come from loopback, so a layer in front of the service says where
//! a request comes from. Everything else is as on a master.

use std::{
    collections::BTreeMap,
    io::Write,
    net::{IpAddr, SocketAddr},
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering},
    },
};

use axum::{
    extract::{ConnectInfo, Request},
    middleware::{Next, from_fn},
};
use ceph::Identity;
use host::{Change, Clock, RealDisk};
use jiff::{SignedDuration, Timestamp};
use join::{
    Admission, Admissions, Applicant, Client, Credential, Generation, JoinKey, Marks, MasterKeys, NodeSecret, Purpose,
    Trust, seal,
    server::{
        self, Answer, CephKeys, Credentials, Departure, Departures, DiskSigner, Done, Evaluate, Identified, Kept,
        KeyStore, Keys, KnownMachine, KnownMachines, NotReady, Records, Setup, Signer, SigningError, StoredToken,
        Writes,
    },
    token,
    wire::{ClaimedRole, ClusterState, Heard},
};
use rcgen::{CertificateParams, KeyPair};
use spec::{Token, ValidatedCluster, check_text};
use tempfile::TempDir;
use tls::{Listener, Peer, ServerCertificate};
use tokio::{net::TcpListener, sync::watch};
use tracing::subscriber::DefaultGuard;

pub(crate) const CLUSTER: &str = r#"
cluster:
  name: home
nodes:
  - { name: master-01, ip: 192.168.1.11, roles: [master], hardware: { mac_addresses: ["52:54:00:00:00:11"] } }
  - { name: worker-01, ip: 192.168.1.21, roles: [worker], hardware: { mac_addresses: ["52:54:00:00:00:21"] } }
  - { name: worker-02, ip: 192.168.1.22, roles: [worker], hardware: { mac_addresses: ["52:54:00:00:00:22"] } }
"#;

pub(crate) const MASTER: [u8; 4] = [192, 168, 1, 11];
pub(crate) const WORKER_01: [u8; 4] = [192, 168, 1, 21];
pub(crate) const WORKER_02: [u8; 4] = [192, 168, 1, 22];

pub(crate) fn cluster(text: &str) -> ValidatedCluster {
    let checked = check_text(text);
    checked.cluster.unwrap_or_else(|| panic!("{:?}", checked.problems))
}

/// The system's clock, which certificates are evaluated by, and how far the service's clock is off.
pub(crate) struct ShiftedClock(AtomicI64);

impl Clock for ShiftedClock {
    fn now(&self) -> Timestamp {
        Timestamp::now() + SignedDuration::from_secs(self.0.load(Ordering::Relaxed))
    }
}

struct CountingSigner {
    inner: DiskSigner,
    signed: AtomicUsize,
}

impl Signer for CountingSigner {
    fn ca(&self) -> Result<String, SigningError> {
        self.inner.ca()
    }

    fn sign(&self, request: &pki::Request, subject: &pki::Subject, days: i64) -> Result<String, SigningError> {
        self.signed.fetch_add(1, Ordering::Relaxed);
        self.inner.sign(request, subject, days)
    }
}

/// The cluster's API, as far as the service asks it.
#[derive(Default)]
struct Api {
    away: AtomicBool,
    registry_away: AtomicBool,
    tokens: Mutex<BTreeMap<String, StoredToken>>,
    machines: Mutex<BTreeMap<String, String>>,
    nodes: Mutex<BTreeMap<String, KnownMachine>>,
    held: Mutex<Vec<String>>,
    admissions: Mutex<Admissions>,
    left: Mutex<Vec<String>>,
    held_back: Mutex<Vec<bool>>,
    ceph: Mutex<Option<BTreeMap<String, String>>>,
}

impl Api {
    fn ask<T>(&self, answer: impl FnOnce() -> T) -> Result<T, NotReady> {
        if self.away.load(Ordering::Relaxed) { Err(NotReady) } else { Ok(answer()) }
    }
}

impl Credentials for Api {
    fn token<'a>(&'a self, id: &'a str) -> Answer<'a, Option<StoredToken>> {
        let answer = self.ask(|| self.tokens.lock().unwrap().get(id).cloned());
        Box::pin(async { answer })
    }
}

impl KnownMachines for Api {
    fn owners<'a>(&'a self, machine_id: &'a str) -> Answer<'a, Vec<String>> {
        let answer = self.ask(|| self.machines.lock().unwrap().get(machine_id).cloned().into_iter().collect());
        Box::pin(async { answer })
    }

    fn of<'a>(&'a self, node: &'a str) -> Answer<'a, Option<KnownMachine>> {
        let answer = self.ask(|| self.nodes.lock().unwrap().get(node).cloned());
        let answer =
            answer.and_then(|found| if self.registry_away.load(Ordering::Relaxed) { Err(NotReady) } else { Ok(found) });
        Box::pin(async { answer })
    }
}

impl Records for Api {
    fn known(&self, node: &str) -> Admission {
        self.admissions.lock().unwrap().of(node)
    }

    fn decide<'a>(&'a self, node: &'a str, evaluate: Evaluate<'a>) -> Kept<'a> {
        let evaluated =
            evaluate(self.known(node)).map(|admission| self.admissions.lock().unwrap().add(node, &admission));
        Box::pin(async { evaluated })
    }
}

impl Departures for Api {
    fn remove<'a>(&'a self, node: &'a str) -> Answer<'a, Departure> {
        let answer = self.ask(|| {
            let by = self.held.lock().unwrap().clone();
            if by.is_empty() {
                self.left.lock().unwrap().push(node.to_owned());
                self.nodes.lock().unwrap().remove(node);
                Departure::Gone
            } else {
                Departure::Held(by)
            }
        });
        Box::pin(async move { answer })
    }
}

impl Writes for Api {
    fn hold(&self) -> Done<'_> {
        self.held_back.lock().unwrap().push(true);
        Box::pin(async { Ok(()) })
    }

    fn release(&self) -> Done<'_> {
        self.held_back.lock().unwrap().push(false);
        Box::pin(async { Ok(()) })
    }
}

impl CephKeys for Api {
    fn identity<'a>(&'a self, cluster: &'a ValidatedCluster, is_initialized: bool) -> Identified<'a> {
        let mut held = self.ceph.lock().unwrap();
        let wanted = Identity::wanted(held.as_ref(), cluster, is_initialized, Timestamp::UNIX_EPOCH).unwrap();
        *held = wanted.or(held.take());
        let identity = Identity::read(held.as_ref().unwrap()).unwrap();
        let answer = self.ask(|| identity).map_err(|error| error.to_string());
        Box::pin(async { answer })
    }
}

/// What is announced to every node.
pub(crate) fn heard() -> Heard {
    let marks = Marks { ca: "ca".into(), tokens: "kid".into(), join: None };
    Heard { marks: Some(marks), rotating: false }
}

/// What a master has.
#[derive(Clone)]
pub(crate) struct Held {
    pub(crate) cluster_state: ClusterState,
    pub(crate) admits: bool,
    pub(crate) join_key: Option<JoinKey>,
    /// While the key is replaced.
    pub(crate) previous_join_key: Option<JoinKey>,
}

impl KeyStore for Held {
    fn cluster_state(&self) -> ClusterState {
        self.cluster_state
    }

    fn machine_id(&self) -> Option<String> {
        Some(join::machine_id("master-01"))
    }

    fn admits(&self) -> bool {
        self.admits
    }

    fn join_keys(&self) -> Vec<JoinKey> {
        self.join_key.iter().chain(&self.previous_join_key).cloned().collect()
    }

    fn rotation_key(&self) -> Option<String> {
        Some("the second lock".to_owned())
    }

    fn keys_for<'a>(&'a self, node: &'a str, _machine_id: Option<&'a str>) -> Keys<'a> {
        Box::pin(async move {
            Ok(MasterKeys {
                files: BTreeMap::from([("pki/ca.key".to_owned(), format!("the key, for {node}"))]),
                encryption: "at rest".into(),
                join_key: None,
                bootstrapping: None,
            })
        })
    }
}

#[derive(Clone, Default)]
struct Journal(Arc<Mutex<Vec<u8>>>);

impl Write for Journal {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) ca_pem: String,
    pub(crate) sealed: TempDir,
    pub(crate) certificate: (String, String),
    pub(crate) admin: (String, String),
    pub(crate) described: watch::Sender<Arc<ValidatedCluster>>,
    source: Arc<Mutex<IpAddr>>,
    clock: Arc<ShiftedClock>,
    signer: Arc<CountingSigner>,
    api: Arc<Api>,
    journal: Journal,
    _logging: DefaultGuard,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::of(CLUSTER).await
    }

    pub(crate) async fn of(text: &str) -> Self {
        let sealed = seal_into(&cluster(text));
        let root = sealed.path().join("master-01");
        let disk = Arc::new(RealDisk::new("/"));
        let cluster = Arc::new(cluster(text));
        let input = pki::Input::new(&cluster, cluster.node("master-01").unwrap(), pki::Shared::Bring);
        for change in pki::plan(&pki::Existing::read(&*disk, &root).unwrap(), &input, Timestamp::now()).unwrap() {
            change.apply(&*disk).unwrap();
        }
        let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
        let certificate = (read("pki/apiserver.crt"), read("pki/apiserver.key"));
        let ca_pem = read("ca.crt");

        let journal = Journal::default();
        let writer = journal.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        let logging = tracing::subscriber::set_default(subscriber);

        let clock = Arc::new(ShiftedClock(AtomicI64::new(0)));
        let inner = DiskSigner::new(disk.clone(), clock.clone(), &root, "home");
        let signer = Arc::new(CountingSigner { inner, signed: AtomicUsize::new(0) });
        let api = Arc::new(Api::default());
        let described = watch::Sender::new(cluster);
        let source = Arc::new(Mutex::new(IpAddr::from(WORKER_01)));
        let admin = admin_of(&read("admin.conf"));
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut world = Self {
            address,
            ca_pem,
            sealed,
            certificate,
            admin,
            described,
            source,
            clock,
            signer,
            api,
            journal,
            _logging: logging,
        };
        world.address = world.serve(world.setup()).await;
        world
    }

    /// What this master has.
    pub(crate) fn held(&self) -> Held {
        let directory = self.sealed.path().join("master-01");
        let join_key = seal::Sealed::read(&RealDisk::new("/"), &directory).unwrap().unwrap().join_key;
        Held { cluster_state: ClusterState::Member, admits: true, join_key, previous_join_key: None }
    }

    /// What the service of this master needs.
    pub(crate) fn setup(&self) -> Setup {
        Setup {
            announced: watch::channel(heard()).1,
            master: "master-01".into(),
            cluster: self.described.subscribe(),
            key_store: Arc::new(self.held()),
            api_ready: watch::Sender::new(true).subscribe(),
            credentials: self.api.clone(),
            machines: self.api.clone(),
            records: self.api.clone(),
            ceph: self.api.clone(),
            departures: self.api.clone(),
            writes: self.api.clone(),
            signer: self.signer.clone(),
            clock: self.clock.clone(),
        }
    }

    /// One more service of this master on loopback, to which every request comes from where the world says.
    pub(crate) async fn serve(&self, setup: Setup) -> SocketAddr {
        let certificate = ServerCertificate::new(&self.certificate.0, &self.certificate.1).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listener = Listener::new(tcp, &certificate, &self.ca_pem).unwrap();
        let address = listener.address();
        let source = self.source.clone();
        let pretend = from_fn(move |mut request: Request, next: Next| {
            if let Some(ConnectInfo(peer)) = request.extensions_mut().get_mut::<ConnectInfo<Peer>>() {
                peer.address.set_ip(*source.lock().unwrap());
            }
            next.run(request)
        });
        let router = server::router(setup).unwrap().layer(pretend);
        tokio::spawn(server::serve_router(listener, router));
        address
    }

    /// From now on, requests come from this address.
    pub(crate) fn come_from(&self, address: impl Into<IpAddr>) {
        *self.source.lock().unwrap() = address.into();
    }

    pub(crate) fn shift_clock(&self, seconds: i64) {
        self.clock.0.store(seconds, Ordering::Relaxed);
    }

    pub(crate) fn take_api_away(&self, away: bool) {
        self.api.away.store(away, Ordering::Relaxed);
    }

    pub(crate) fn know_machine(&self, id: &str, node: &str) {
        self.api.machines.lock().unwrap().insert(id.to_owned(), node.to_owned());
    }

    /// The token of cluster.yaml is known without the API, Nodes are not.
    pub(crate) fn take_registry_away(&self) {
        self.api.registry_away.store(true, Ordering::Relaxed);
    }

    /// There is a Node object of this name.
    pub(crate) fn register(&self, node: &str) {
        self.know_node(node, "", None);
    }

    /// What others have set on every Node.
    pub(crate) fn set_on_nodes(&self, by: &[&str]) {
        *self.api.held.lock().unwrap() = by.iter().map(|text| (*text).to_owned()).collect();
    }

    /// The cluster has this node, on this machine.
    pub(crate) fn know_node(&self, node: &str, machine: &str, ready_since: Option<Timestamp>) {
        let known = KnownMachine { id: join::machine_id(machine), ready_since };
        self.api.nodes.lock().unwrap().insert(node.to_owned(), known);
    }

    /// The cluster has no such node any more.
    pub(crate) fn forget_node(&self, node: &str) {
        self.api.nodes.lock().unwrap().remove(node);
    }

    /// As a command on a master does.
    pub(crate) fn record(&self, node: &str, change: impl FnOnce(Admission) -> Admission) {
        let mut admissions = self.api.admissions.lock().unwrap();
        let changed = change(admissions.of(node));
        admissions.add(node, &changed);
    }

    /// The nodes that were removed.
    pub(crate) fn left(&self) -> Vec<String> {
        self.api.left.lock().unwrap().clone()
    }

    /// When writes to etcd were held back, and let go.
    pub(crate) fn held_back(&self) -> Vec<bool> {
        self.api.held_back.lock().unwrap().clone()
    }

    /// Certificate and key of a node's agent, as a master signs them for its own.
    pub(crate) fn agent_of(&self, node: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let request = CertificateParams::default().serialize_request(&key).unwrap().pem().unwrap();
        let request = pki::Request::from_pem(request.as_bytes()).unwrap();
        (self.signer.sign(&request, &Purpose::Agent.subject(node), 1).unwrap(), key.serialize_pem())
    }

    /// A token the API knows.
    pub(crate) fn new_token(&self, expires: Option<Timestamp>, node: Option<&str>) -> Token {
        let token = token::generate().unwrap();
        let stored = StoredToken { secret: token.secret.clone(), expires, node: node.map(str::to_owned) };
        self.api.tokens.lock().unwrap().insert(token.id.clone(), stored);
        token
    }

    /// The API knows the token under another id.
    pub(crate) fn rename_token(&self, from: &str, to: &str) {
        let mut tokens = self.api.tokens.lock().unwrap();
        let token = tokens.remove(from).unwrap();
        tokens.insert(to.to_owned(), token);
    }

    /// How many certificates were signed.
    pub(crate) fn signed(&self) -> usize {
        self.signer.signed.load(Ordering::Relaxed)
    }

    /// What the service has logged.
    pub(crate) fn all_logged(&self) -> String {
        String::from_utf8(self.journal.0.lock().unwrap().clone()).unwrap()
    }

    /// What the service logged since the last time.
    pub(crate) fn journal(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.journal.0.lock().unwrap())).unwrap()
    }

    pub(crate) fn secret(&self, node: &str) -> NodeSecret {
        let path = self.sealed.path().join(node).join("join-secret");
        NodeSecret::parse(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    /// Another secret of a node, made so many seconds later than the sealed one.
    pub(crate) fn later_secret(&self, node: &str, seconds: u32, expires: Option<Timestamp>) -> NodeSecret {
        let generation = Generation(self.secret(node).generation.0 + seconds);
        self.held().join_key.unwrap().node_secret(node, generation, expires)
    }

    /// A node as its sealed directory makes it.
    pub(crate) fn applicant(&self, node: &str) -> Applicant {
        Applicant {
            cluster: "home".into(),
            node: node.into(),
            role: ClaimedRole::Worker,
            machine_id: Some(join::machine_id(node)),
            credential: Credential::NodeSecret(self.secret(node)),
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(vec![self.address], Trust::Ca(self.ca_pem.clone()))
    }
}

/// A new directory with a sealed cluster.
pub(crate) fn seal_into(cluster: &ValidatedCluster) -> TempDir {
    let out = tempfile::tempdir().unwrap();
    for change in seal_plan(cluster, out.path()).unwrap() {
        change.apply(&RealDisk::new("/")).unwrap();
    }
    out
}

pub(crate) fn seal_plan(cluster: &ValidatedCluster, out: &Path) -> Result<Vec<Change>, seal::SealError> {
    let disk = RealDisk::new("/");
    let existing = seal::Existing::read(&disk, out, cluster)?;
    let sources = seal::Sources {
        cluster: CLUSTER.as_bytes().to_vec(),
        nodes: [("worker-01.yaml".to_owned(), b"node: { name: worker-01 }\n".to_vec())].into(),
        add_on: BTreeMap::new(),
    };
    seal::plan(cluster, &sources, &existing, Timestamp::now(), &seal::Terms::default())
}

fn admin_of(kubeconfig: &str) -> (String, String) {
    use base64::{Engine, prelude::BASE64_STANDARD};
    let field = |name: &str| {
        let line = kubeconfig.lines().find_map(|line| line.trim().strip_prefix(name)).unwrap();
        String::from_utf8(BASE64_STANDARD.decode(line.trim()).unwrap()).unwrap()
    };
    (field("client-certificate-data:"), field("client-key-data:"))
}
