//! A name server that answers. The cluster's own names do not need one; images and everything outside do.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use futures::future::join_all;
use playbooks::cluster::{Options, ids};
use tokio::{net::UdpSocket, time::timeout};

use crate::{Check, Checking, Context, Finding, Inconclusive, Part, codes::NO_NAME_SERVER};

/// See [`super`].
pub(crate) const CHECK: Check =
    Check::new("name-server", "name servers of the machine, asked for an answer", &[NO_NAME_SERVER], check);

/// Packets may get lost; a server that was asked twice in vain is not there.
const TRIES: usize = 2;
const LIMIT: Duration = Duration::from_millis(1500);

/// "Who serves the root?": every server that works has some answer to it, if only a refusal.
const QUESTION: [u8; 17] = [0xb5, 0x01, 0x01, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1];

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if !context.was_done(ids::PREFLIGHT).await? {
            return Ok(Vec::new());
        }
        let options = Options::read(&context.host).map_err(|error| Inconclusive(explain::chain(&error)))?;
        let path = options.machine.resolv_conf;
        let servers = servers(&context.text(&path)?.unwrap_or_default());
        let answers = join_all(servers.iter().map(async |server| answers(*server).await)).await;
        let wanted = &context.cluster.networking().dns;
        Ok(evaluate(&path.to_string_lossy(), &servers, answers.contains(&true), wanted).into_iter().collect())
    })
}

/// The addresses after `nameserver`; a zone after `%` does not matter here.
fn servers(resolv_conf: &str) -> Vec<IpAddr> {
    let lines = resolv_conf.lines().filter_map(|line| line.trim().strip_prefix("nameserver"));
    lines.filter_map(|address| address.trim().split('%').next()?.parse().ok()).collect()
}

async fn answers(server: IpAddr) -> bool {
    for _ in 0..TRIES {
        if matches!(timeout(LIMIT, ask(server)).await, Ok(Ok(()))) {
            return true;
        }
    }
    false
}

async fn ask(server: IpAddr) -> std::io::Result<()> {
    let any: SocketAddr = if server.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0u16; 8], 0).into() };
    let socket = UdpSocket::bind(any).await?;
    socket.connect((server, 53)).await?;
    socket.send(&QUESTION).await?;
    let mut answer = [0; 512];
    loop {
        let length = socket.recv(&mut answer).await?;
        if length >= 2 && answer[..2] == QUESTION[..2] {
            return Ok(());
        }
    }
}

fn evaluate(path: &str, servers: &[IpAddr], one_answers: bool, wanted: &[IpAddr]) -> Option<Finding> {
    let list = |all: &[IpAddr]| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if servers.is_empty() {
        let evidence = format!("{path} names no name server");
        // A cluster that never meant to have one may be meant to be alone.
        return Some(if wanted.is_empty() {
            Finding::suspicion(NO_NAME_SERVER, Part::ClusterDns, evidence)
        } else {
            let fix = format!("write `nameserver {}` into {path}; cluster.yaml has {}", wanted[0], list(wanted));
            Finding::cause(NO_NAME_SERVER, Part::ClusterDns, evidence).with_fix(fix)
        });
    }
    if one_answers {
        return None;
    }
    let evidence = format!("no answer from {} on port 53, which is all that {path} names", list(servers));
    // The server may be gone, or the way to it.
    Some(Finding::symptom(NO_NAME_SERVER, Part::ClusterDns, evidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn servers_of_a_file() {
        let text = "# nameserver 9.9.9.9\nsearch lan\nnameserver 192.168.1.1\n nameserver fe80::1%eth0\nnameserver x\n";
        assert_eq!(servers(text), ["192.168.1.1", "fe80::1"].map(|ip| ip.parse::<IpAddr>().unwrap()));
    }

    #[test]
    fn one_that_answers_is_enough() {
        let servers: [IpAddr; 2] = ["192.168.1.1", "192.168.1.2"].map(|ip| ip.parse().unwrap());
        let reported = |there: &[IpAddr], answers, wanted: &[IpAddr]| {
            evaluate("/etc/resolv.conf", there, answers, wanted).map(|finding| (finding.kind, finding.evidence))
        };
        assert_eq!(reported(&servers, true, &servers), None);
        let (kind, evidence) = reported(&servers, false, &[]).unwrap();
        assert_eq!(kind, Kind::Symptom);
        insta::assert_snapshot!(
            evidence,
            @"no answer from 192.168.1.1, 192.168.1.2 on port 53, which is all that /etc/resolv.conf names"
        );
        assert_eq!(reported(&[], false, &servers).unwrap().0, Kind::Cause);
        assert_eq!(reported(&[], false, &[]).unwrap().0, Kind::Suspicion);
    }
}
