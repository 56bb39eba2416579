//! tmp
use agent::{Agent, Paths};
use host::{Change, Clock, Content, Host};
use pki::{Existing, Input, Shared};
use secrecy::ExposeSecret;
use std::{net::SocketAddr, sync::Arc};
struct Later(i64);
impl Clock for Later {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * self.0)
    }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let cluster =
        Arc::new(spec::check_text(&std::fs::read_to_string("/tmp/e2e/cluster.yaml").unwrap()).cluster.unwrap());
    let node = cluster.node(&args[2]).unwrap().clone();
    let mut host = Host::real();
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let write = |path: &str, text: String| {
        Change::File { path: path.into(), mode: 0o600, content: Content::Secret(text.into_bytes()) }
            .apply(&*host.disk)
            .unwrap()
    };
    match args[1].as_str() {
        "pki" => {
            let input = Input::new(&cluster, &node, Shared::Make);
            let existing = Existing::read(&*host.disk, "/etc/kubernetes".as_ref()).unwrap();
            for c in pki::plan(&existing, &input, jiff::Timestamp::now()).unwrap() {
                c.apply(&*host.disk).unwrap();
            }
            return;
        }
        "join" => {
            let key = join::JoinKey::parse(&std::fs::read_to_string("/tmp/e2e/join.key").unwrap()).unwrap();
            let ca = std::fs::read_to_string("/tmp/e2e/ca.crt").unwrap();
            let master: SocketAddr = "10.0.0.11:7444".parse().unwrap();
            let client = join::Client::new(vec![master], join::Trust::Ca(ca));
            let applicant = join::Applicant {
                cluster: "demo".into(),
                node: node.name.clone(),
                role: join::wire::ClaimedRole::Worker,
                credential: join::Credential::NodeSecret(key.node_secret(&node.name, None)),
                machine_id: None,
            };
            let joined = rt.block_on(async {
                loop {
                    match client.join(&applicant).await {
                        Ok(j) => break j,
                        Err(e) => {
                            eprintln!("{e}");
                            tokio::time::sleep(std::time::Duration::from_millis(300)).await
                        }
                    }
                }
            });
            let conf = |pair: &join::Pair, user: &str| {
                pki::kubeconfig(
                    "demo",
                    user,
                    "https://127.0.0.1:7443",
                    joined.ca_pem.as_bytes(),
                    pki::Proof::Inside { certificate_pem: &pair.cert_pem, key_pem: pair.key_pem.expose_secret() },
                )
            };
            write("/etc/kubernetes/pki/ca.crt", joined.ca_pem.clone());
            write("/etc/kubernetes/kube-proxy.conf", conf(&joined.kube_proxy, "system:kube-proxy"));
            write("/etc/kubernetes/agent.conf", conf(&joined.agent, "agent"));
            return;
        }
        "key" => {
            println!("{}", join::JoinKey::generate().unwrap().text().expose_secret());
            return;
        }
        "reports" => {
            let ca = std::fs::read_to_string("/etc/kubernetes/pki/ca.crt").unwrap();
            let text = std::fs::read_to_string("/etc/kubernetes/super-admin.conf").unwrap();
            let get = |k: &str| {
                let l = text.lines().find(|l| l.contains(k)).unwrap();
                let b = l.split(": ").nth(1).unwrap();
                String::from_utf8(base64::Engine::decode(&base64::prelude::BASE64_STANDARD, b).unwrap()).unwrap()
            };
            let m = join::Member::new(
                vec!["10.0.0.11:7444".parse().unwrap()],
                &ca,
                (&get("client-certificate-data"), &get("client-key-data")),
            )
            .unwrap();
            println!("{}", serde_json::to_string(&rt.block_on(m.nodes()).unwrap()).unwrap());
            return;
        }
        _ => {}
    }
    if let Ok(days) = std::env::var("DAYS") {
        host.clock = Arc::new(Later(days.parse().unwrap()));
    }
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_env_filter("info,kube_client=off")
        .init();
    rt.block_on(agent::run(Agent { host, cluster, node, paths: Paths::default(), cancel: Default::default() }))
        .unwrap();
}
