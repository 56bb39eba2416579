//! `blackstart ignition serve`, asked by the right ones, the wrong ones, and those who mean no good.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{Trial, example, fs, sealed};

/// The server, ended with the test.
struct Server {
    child: Child,
    address: String,
    ca: String,
}

impl Server {
    fn start(trial: &Trial, sealed: &str, out: &str) -> Self {
        let dir = example("pivot");
        let render =
            ["ignition", "render", &dir, "--sealed", sealed, "--out", out, "--pointer", "https://127.0.0.1:22623"];
        let rendered = trial.run(render);
        assert!(rendered.starts_with("exit 0"), "{rendered}");
        let mut child = Command::new(env!("CARGO_BIN_EXE_blackstart"))
            .args(["ignition", "serve", &dir, "--sealed", sealed, "--configs", out, "--listen", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(trial.path("serve.log")).unwrap())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split_whitespace().find(|word| word.starts_with("127.0.0.1:")).expect(&line).to_owned();
        Self { child, address, ca: trial.read("sealed/worker-01/ca.crt") }
    }

    async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> (u16, Vec<u8>) {
        let client = tls::client(&self.ca, None).unwrap();
        let url = format!("https://{}{path}", self.address);
        let mut request = match method {
            "GET" => client.get(url),
            "HEAD" => client.head(url),
            "PUT" => client.put(url),
            _ => client.post(url),
        };
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.bytes().await.unwrap().to_vec())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The header in a pointer.
fn proof(trial: &Trial, node: &str) -> String {
    let pointer: Value = serde_json::from_str(&trial.read(&format!("ign/pointers/{node}.ign"))).unwrap();
    pointer["ignition"]["config"]["merge"][0]["httpHeaders"][0]["value"].as_str().unwrap().to_owned()
}

fn of(value: &str) -> [(&str, &str); 1] {
    [("authorization", value)]
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test]
async fn only_the_holder_of_the_secret_gets_its_config() {
    let (trial, sealed, out) = sealed();
    let server = Server::start(&trial, &sealed, &out);
    let (worker, master) = (proof(&trial, "worker-01"), proof(&trial, "master-01"));

    let (status, body) = server.ask("GET", "/config/worker-01", &of(&worker)).await;
    assert_eq!((status, text(&body)), (200, trial.read("ign/worker-01.ign")), "the very bytes");
    assert_eq!(server.ask("HEAD", "/config/worker-01", &of(&worker)).await, (200, Vec::new()));

    // A client without a proof hears the same of nodes that exist and of those that do not.
    let strangers = server.ask("GET", "/config/worker-01", &[]).await;
    assert_eq!(strangers.0, 401);
    for path in ["/config/worker-99", "/config/..%2f..%2fsealed%2fbootstrap%2fjoin.key"] {
        assert_eq!(server.ask("GET", path, &[]).await, strangers, "{path}");
    }
    let forged = worker.replace("worker-01", "master-01");
    assert_eq!(server.ask("GET", "/config/master-01", &of(&forged)).await, strangers);

    // A proof of one node opens no other's, whether there is one or not.
    let others = server.ask("GET", "/config/master-01", &of(&worker)).await;
    assert_eq!(others.0, 403);
    for path in ["/config/worker-99", "/config/%2e%2e%2fmaster-01", "/config/worker-01%2f..%2fmaster-01"] {
        assert_eq!(server.ask("GET", path, &of(&worker)).await, others, "{path}");
    }

    // What is rendered again is served at once, and what is not there yet is to be asked for again.
    fs::write(trial.path("ign/master-01.ign"), "{}\n").unwrap();
    assert_eq!(server.ask("GET", "/config/master-01", &of(&master)).await, (200, b"{}\n".to_vec()));
    fs::remove_file(trial.path("ign/master-01.ign")).unwrap();
    let (status, body) = server.ask("GET", "/config/master-01", &of(&master)).await;
    assert!(status == 503 && text(&body).contains("BS-JOIN-065"), "{status} {}", text(&body));

    let log = trial.read("serve.log");
    assert!(log.contains("worker-01") && log.contains("BS-JOIN-002"), "{log}");
    let secret = trial.read("sealed/worker-01/join-secret");
    for hidden in [&worker, &master, secret.trim(), "worker-99", "join.key"] {
        assert!(!log.contains(hidden), "{log}");
    }
}

#[tokio::test]
async fn a_pointer_of_an_older_seal_is_refused() {
    let (trial, sealed, out) = sealed();
    let server = Server::start(&trial, &sealed, &out);
    let old = proof(&trial, "worker-01");
    let renewed = trial.run(["config", "seal", &example("pivot"), "--out", &sealed, "--renew", "worker-01"]);
    assert!(renewed.starts_with("exit 0"), "{renewed}");
    let (status, body) = server.ask("GET", "/config/worker-01", &[("authorization", &old)]).await;
    assert!(status == 403 && text(&body).contains("BS-JOIN-060"), "{status} {}", text(&body));
}

#[tokio::test]
async fn hostile_clients_keep_no_other_waiting() {
    let (trial, sealed, out) = sealed();
    let server = Server::start(&trial, &sealed, &out);
    let worker = proof(&trial, "worker-01");
    let proved = [("authorization", worker.as_str())];
    for method in ["POST", "PUT"] {
        assert_eq!(server.ask(method, "/config/worker-01", &proved).await.0, 405, "{method}");
    }
    for path in ["/", "/config", "/config/", "/config/worker-01/more", "/ign/worker-01.ign"] {
        assert_eq!(server.ask("GET", path, &proved).await.0, 404, "{path}");
    }
    let long = "a".repeat(7000);
    assert_eq!(server.ask("GET", "/config/worker-01", &[("authorization", &long)]).await.0, 401);
    let twice = [proved[0], proved[0]];
    assert_eq!(server.ask("GET", "/config/worker-01", &twice).await.0, 401, "two proofs are none");

    // Headers without end: cut off, without an answer.
    let client = tls::client(&server.ca, None).unwrap();
    let huge = client.get(format!("https://{}/config/worker-01", server.address)).header("x", "a".repeat(60_000));
    let ended = huge.send().await;
    assert!(ended.is_err() || ended.is_ok_and(|answer| answer.status().as_u16() == 431));

    // Silent ones, and one that does not speak TLS.
    let silent: Vec<TcpStream> = (0..60).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    let mut plain = TcpStream::connect(&server.address).unwrap();
    plain.write_all(b"GET /config/worker-01 HTTP/1.1\r\n\r\n").unwrap();
    plain.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut answer = Vec::new();
    // An alert of TLS, or a reset.
    let _ = plain.read_to_end(&mut answer);
    assert!(!text(&answer).contains("HTTP/1.1"), "{}", text(&answer));
    let asked = Instant::now();
    assert_eq!(server.ask("GET", "/config/worker-01", &proved).await.0, 200);
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    drop(silent);

    // Guessing has an end, also for what would be right.
    let mut last = (0, Vec::new());
    for _ in 0..40 {
        last = server.ask("GET", "/config/worker-01", &of("Bearer worker-01.1.0.AAAA")).await;
        if last.0 != 401 {
            break;
        }
    }
    // Not 429: Ignition would give up.
    assert!(last.0 == 503 && text(&last.1).contains("too many attempts"), "{} {}", last.0, text(&last.1));
    assert_eq!(server.ask("GET", "/config/worker-01", &proved).await.0, 503);
}

#[test]
fn what_cannot_be_served_is_reported() {
    let (trial, sealed, out) = sealed();
    let dir = example("pivot");
    let serve = |sealed: &str, more: &[&str]| {
        let all = ["ignition", "serve", &dir, "--sealed", sealed, "--configs", &out];
        trial.run(all.into_iter().chain(more.iter().copied()))
    };
    let nowhere = trial.path("nowhere").display().to_string();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().to_string();
    let mut all = serve(&sealed, &[]);
    all += &serve(&nowhere, &["--name", "ign.example.org"]);
    all += &serve(&sealed, &["--listen", &port]).replace(&port, "ADDRESS");
    insta::assert_snapshot!("ignition-serve-refused", all);
}
