//! The majority of Ceph's monitors. Without it nothing of Ceph can be read or written, and `ceph` does not answer.

use std::{net::IpAddr, time::Duration};

use ceph::answers::MonStatus;
use spec::Role;
use tokio::{net::TcpStream, time::timeout};

use super::{has_monitor, inconclusive};
use crate::{Check, Checking, Context, Finding, Part, codes::CEPH_NO_QUORUM};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new("ceph-quorum", "the quorum of Ceph's monitors", &[CEPH_NO_QUORUM], check);

/// Where monitors are reached.
const PORT: u16 = 3300;
const DEADLINE: Duration = Duration::from_secs(2);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if !has_monitor(context).await? {
            return Ok(Vec::new());
        }
        // The check of daemons reports one that does not answer.
        let status = ceph::monitor(&context.node.name).await.map_err(|error| inconclusive(&error))?;
        let Some(status) = status.filter(|status| !status.is_in_quorum()) else { return Ok(Vec::new()) };
        let mut silent = Vec::new();
        for node in context.cluster.with_role(Role::CephMon).filter(|node| node.name != context.node.name) {
            if !answers(node.ip).await {
                silent.push(node.name.as_str());
            }
        }
        Ok(vec![evaluate(&status, &silent)])
    })
}

async fn answers(ip: IpAddr) -> bool {
    matches!(timeout(DEADLINE, TcpStream::connect((ip, PORT))).await, Ok(Ok(_)))
}

/// What a monitor outside of any quorum means, where these do not answer.
fn evaluate(status: &MonStatus, silent: &[&str]) -> Finding {
    let all = status.monmap.mons.len();
    let needed = all / 2 + 1;
    let here = all.saturating_sub(silent.len());
    if here >= needed {
        let evidence = format!("this monitor is `{}`, and enough others answer on port {PORT}", status.state);
        return Finding::symptom(CEPH_NO_QUORUM, Part::Ceph, evidence);
    }
    let silent = silent.join(", ");
    let evidence = format!("{here} of {all} monitors answer on port {PORT}, {needed} are needed; silent: {silent}");
    let fix =
        format!("start the monitors of {silent} (`systemctl start ceph-mon@NAME` there), or bring the machines back");
    Finding::cause(CEPH_NO_QUORUM, Part::Ceph, evidence).with_fix(fix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_majority_is_counted() {
        let status: MonStatus = serde_json::from_str(
            r#"{"state":"probing","monmap":{"fsid":"f","mons":[{"name":"a"},{"name":"b"},{"name":"c"}]}}"#,
        )
        .unwrap();
        let reported = |silent: &[&str]| {
            let finding = evaluate(&status, silent);
            format!("{:?}: {}", finding.kind, finding.evidence)
        };
        insta::assert_snapshot!([reported(&["b", "c"]), reported(&["c"])].join("\n"), @r"
        Cause: 1 of 3 monitors answer on port 3300, 2 are needed; silent: b, c
        Symptom: this monitor is `probing`, and enough others answer on port 3300
        ");
    }
}
