//! Network partitions: who reaches whom while something is cut.

use std::{
    io::ErrorKind,
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use crate::support::{TestLab, eventually, turn};

#[test]
fn what_is_cut_is_cut_until_it_is_healed() {
    let _turn = turn();
    let lab = TestLab::with(1, 2);
    let network = Network::of(&lab);
    network.assert_cut(&[]);

    lab.run("cut", &["master-01", "worker-01"]).ok();
    network.assert_cut(&[("master-01", "worker-01")]);
    assert_eq!(lab.machine("worker-02")["cuts"], serde_json::json!([]));
    assert_eq!(lab.machine("worker-01")["cuts"], serde_json::json!([{ "between": ["master-01", "worker-01"] }]));

    lab.run("cut", &["worker-02"]).ok();
    let all =
        [("master-01", "worker-01"), ("worker-02", "master-01"), ("worker-02", "worker-01"), ("worker-02", "host")];
    network.assert_cut(&all);

    lab.run("reboot", &["worker-02"]).ok();
    network.assert_cut(&all);

    lab.run("heal", &["worker-02"]).ok();
    network.assert_cut(&[("master-01", "worker-01")]);
    lab.run("heal", &[]).ok();
    network.assert_cut(&[]);
    lab.run("cut", &["worker-01", "worker-09"]).refused(1, "BS-LAB-003");
    network.assert_cut(&[]);
}

struct Network<'a> {
    lab: &'a TestLab,
    /// Name and address; the host is one of them.
    ends: Vec<(String, String)>,
}

impl<'a> Network<'a> {
    fn of(lab: &'a TestLab) -> Self {
        let status = lab.status();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let machines = status["machines"].as_array().unwrap();
        let mut ends: Vec<_> = machines.iter().map(|one| (text(&one["name"]), text(&one["ip"]))).collect();
        ends.push(("host".into(), text(&status["subnet"]).replace("0/24", "1")));
        Self { lab, ends }
    }

    /// Exactly these cannot reach each other, in either direction; all others can.
    fn assert_cut(&self, cut: &[(&str, &str)]) {
        for (from, _) in &self.ends {
            for (to, address) in self.ends.iter().filter(|(to, _)| to != from) {
                let is_cut = cut
                    .iter()
                    .any(|(a, b)| (a, b) == (&from.as_str(), &to.as_str()) || (a, b) == (&to.as_str(), &from.as_str()));
                let what = format!("{from} to {to}, cut {cut:?}");
                if is_cut {
                    assert!(!self.reaches(from, address), "{what}");
                } else {
                    // Neighbours that did not answer are asked again after a second, not at once.
                    eventually(&what, || self.reaches(from, address));
                }
            }
        }
    }

    fn reaches(&self, from: &str, address: &str) -> bool {
        if from == "host" {
            let port: SocketAddr = format!("{address}:9").parse().unwrap();
            // Nothing listens there, and that nothing listens is an answer.
            return matches!(TcpStream::connect_timeout(&port, Duration::from_secs(1)), Err(error) if error.kind() == ErrorKind::ConnectionRefused);
        }
        self.lab.run("exec", &[from, "ping", "-c2", "-i0.2", "-W1", address]).code == Some(0)
    }
}
