//! The API as this node reaches it: its own API server on a master, those of the masters and the balancer on a worker.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use futures::future::join_all;
use kubeapi::codes::UNREACHABLE as API_SILENT;
use playbooks::cluster::ids;
use spec::{BootstrapRole, Node, ports};
use tls::Distrust;
use tokio::{net::TcpStream, time::timeout};

use crate::{
    Check, Checking, Context, Finding, Inconclusive, Part,
    codes::{API_DISTRUSTED, API_NOT_READY, BALANCER_SILENT, JOIN_SERVICE_DOWN},
    view::{ApiAnswer, ask_api},
};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "api",
    "the API servers, the join services and the balancer, as this node reaches them",
    &[API_SILENT, API_NOT_READY, API_DISTRUSTED, BALANCER_SILENT, JOIN_SERVICE_DOWN, join::codes::UNREACHABLE],
    check,
);

/// A machine of the same network answers at once or not at all.
const LIMIT: Duration = Duration::from_secs(2);

/// How a port answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Port {
    Open,
    /// The machine is up, nothing listens.
    Refused,
    Silent,
}

/// How a master answers.
struct Asked<'a> {
    master: &'a Node,
    api: ApiAnswer,
    join: Port,
}

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let is_worker = context.role() == BootstrapRole::Worker;
        if !context.was_done(if is_worker { ids::JOIN } else { ids::API_READY }).await? {
            return Ok(Vec::new());
        }
        let Some(ca) = context.text(context.layout.kubernetes_dir.join("pki/ca.crt"))? else { return Ok(Vec::new()) };
        let balancer = knock((Ipv4Addr::LOCALHOST, ports::API_BALANCER).into());
        let masters: Vec<&Node> =
            if is_worker { context.cluster.control_plane().collect() } else { vec![&context.node] };
        let ask = |master| ask(master, context.cluster.api().port, &ca);
        let (balancer, asked) = tokio::join!(balancer, join_all(masters.into_iter().map(ask)));
        let asked = asked.into_iter().collect::<Result<Vec<_>, _>>().map_err(Inconclusive)?;
        // What ends again and again is reported as such, with what it logged.
        let units = context.units().await?;
        let mut found = match asked.as_slice() {
            asked if is_worker => of_worker(asked),
            [_] if context.is_failing("kube-apiserver").await? => Vec::new(),
            asked => asked.iter().filter_map(of_master).collect(),
        };
        if balancer != Port::Open && !units.is_failing("blackstart-agent.service") {
            let evidence = format!("nothing listens on 127.0.0.1:{}", ports::API_BALANCER);
            found.push(Finding::symptom(BALANCER_SILENT, Part::Agent, evidence));
        }
        Ok(found)
    })
}

async fn ask<'a>(master: &'a Node, port: u16, ca: &str) -> Result<Asked<'a>, String> {
    let (api, join) =
        tokio::join!(ask_api(SocketAddr::new(master.ip, port), ca), knock(SocketAddr::new(master.ip, ports::JOIN)));
    Ok(Asked { master, api: api?, join })
}

async fn knock(at: SocketAddr) -> Port {
    match timeout(LIMIT, TcpStream::connect(at)).await {
        Ok(Ok(_)) => Port::Open,
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => Port::Refused,
        Ok(Err(_)) | Err(_) => Port::Silent,
    }
}

/// This node's own API server.
fn of_master(asked: &Asked<'_>) -> Option<Finding> {
    let (code, evidence) = match &asked.api {
        ApiAnswer::Ready => return None,
        ApiAnswer::NotReady(failing) => {
            (API_NOT_READY, format!("this node's API server is not ready: {}", listed(failing)))
        }
        ApiAnswer::Distrusted(why) => (API_DISTRUSTED, distrusted("this node's API server", *why)),
        ApiAnswer::Refused => (API_SILENT, "nothing listens on this node's API port".to_owned()),
        ApiAnswer::Silent(why) => (API_SILENT, format!("this node's API server does not answer: {why}")),
    };
    Some(Finding::symptom(code, Part::ApiServer, evidence))
}

/// One master that serves is enough for a worker.
fn of_worker(asked: &[Asked<'_>]) -> Vec<Finding> {
    let mut found = Vec::new();
    if !asked.iter().any(|asked| asked.api == ApiAnswer::Ready) {
        found.extend(asked.iter().max_by_key(|asked| relevance(asked)).map(|asked| why_not(asked)));
    }
    let is_gone = |asked: &Asked<'_>| asked.join == Port::Silent && matches!(asked.api, ApiAnswer::Silent(_));
    if !asked.iter().any(|asked| asked.join == Port::Open) && !asked.iter().all(is_gone) {
        let names: Vec<String> = asked.iter().map(|asked| format!("{}:{}", asked.master.ip, ports::JOIN)).collect();
        let evidence = format!("nothing answers on {}", names.join(", "));
        found.push(Finding::warning(JOIN_SERVICE_DOWN, Part::Joining, evidence));
    }
    found
}

/// Of several masters, the one that is nearest to working shows most.
fn relevance(asked: &Asked<'_>) -> u8 {
    match (&asked.api, asked.join) {
        (ApiAnswer::Ready, _) => 5,
        (ApiAnswer::NotReady(_), _) => 4,
        (ApiAnswer::Distrusted(_), _) => 3,
        (ApiAnswer::Refused, _) => 2,
        (ApiAnswer::Silent(_), Port::Open | Port::Refused) => 1,
        (ApiAnswer::Silent(_), Port::Silent) => 0,
    }
}

fn why_not(asked: &Asked<'_>) -> Finding {
    let Node { name, ip, .. } = asked.master;
    let there = format!("the reason is there: `blackstart diagnose` on {name}");
    match (&asked.api, asked.join) {
        (ApiAnswer::NotReady(failing), _) => {
            let evidence = format!("the API server of {name} is not ready: {}", listed(failing));
            Finding::cause(API_NOT_READY, Part::ApiServer, evidence).with_fix(there)
        }
        (ApiAnswer::Distrusted(why), _) => {
            Finding::symptom(API_DISTRUSTED, Part::ApiServer, distrusted(&format!("the API server of {name}"), *why))
        }
        (ApiAnswer::Silent(why), Port::Silent) => {
            let evidence = format!("{name} ({ip}) does not answer at all: {why}");
            Finding::symptom(join::codes::UNREACHABLE, Part::Network, evidence)
        }
        (ApiAnswer::Silent(why), _) => {
            let evidence = format!("{name} ({ip}) is there, and its API server does not answer: {why}");
            Finding::symptom(API_SILENT, Part::Network, evidence)
        }
        (ApiAnswer::Refused | ApiAnswer::Ready, _) => {
            let evidence = format!("{name} ({ip}) is there, and no API server listens on it");
            Finding::cause(API_SILENT, Part::ApiServer, evidence).with_fix(there)
        }
    }
}

fn listed(failing: &[String]) -> String {
    if failing.is_empty() { "it names no failing check".to_owned() } else { failing.join(", ") }
}

fn distrusted(whose: &str, why: Distrust) -> String {
    let why = match why {
        Distrust::Ca => "another CA signed it",
        Distrust::Time => "it is not valid at this time",
        Distrust::Name => "it is made out to other names and addresses",
        Distrust::Other => "it is not good for a server",
    };
    format!("the certificate of {whose} is not trusted: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cluster;

    fn reported(answers: &[(ApiAnswer, Port)]) -> Vec<String> {
        let cluster = cluster();
        let master = cluster.masters().next().unwrap();
        let asked: Vec<Asked<'_>> =
            answers.iter().map(|(api, join)| Asked { master, api: api.clone(), join: *join }).collect();
        let line =
            |finding: &Finding| format!("{} {:?} {:?} {}", finding.id(), finding.kind, finding.part, finding.evidence);
        of_worker(&asked).iter().map(line).collect()
    }

    #[test]
    fn what_a_worker_can_say_of_its_masters() {
        let silent = || ApiAnswer::Silent("no answer in time".into());
        let cases = [
            vec![(ApiAnswer::Ready, Port::Open)],
            vec![(ApiAnswer::Ready, Port::Open), (silent(), Port::Silent)],
            vec![(ApiAnswer::Ready, Port::Refused)],
            vec![(ApiAnswer::NotReady(vec!["etcd".into()]), Port::Open)],
            vec![(ApiAnswer::Refused, Port::Open)],
            vec![(ApiAnswer::Refused, Port::Refused)],
            vec![(silent(), Port::Open)],
            vec![(silent(), Port::Silent)],
            vec![(silent(), Port::Silent), (ApiAnswer::Refused, Port::Open)],
            vec![(ApiAnswer::Distrusted(Distrust::Ca), Port::Open)],
        ];
        let text: Vec<String> =
            cases.iter().map(|case| format!("{case:?}\n  {}", reported(case).join("\n  "))).collect();
        insta::assert_snapshot!(text.join("\n"));
    }

    #[test]
    fn a_master_speaks_of_its_own_api_server() {
        let cluster = cluster();
        let master = cluster.masters().next().unwrap();
        let reported =
            |api| of_master(&Asked { master, api, join: Port::Open }).map(|finding| (finding.id(), finding.evidence));
        assert_eq!(reported(ApiAnswer::Ready), None);
        let expected = "this node's API server is not ready: etcd".to_owned();
        assert_eq!(reported(ApiAnswer::NotReady(vec!["etcd".into()])), Some((API_NOT_READY.id, expected)));
        let expected = "the certificate of this node's API server is not trusted: it is not valid at this time";
        assert_eq!(reported(ApiAnswer::Distrusted(Distrust::Time)), Some((API_DISTRUSTED.id, expected.to_owned())));
    }
}
