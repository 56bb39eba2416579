//! A file of a master that still names the address of a bootstrap node that is gone. Kubeconfigs of the node's own table have a
//! look of their own.

use std::net::IpAddr;

use super::gone;
use crate::{Check, Checking, Context, Finding, Part, Roles, codes::BOOTSTRAP_ADDRESS};

/// See [`super::super`].
pub(crate) const CHECK: Check = Check::new(
    "bootstrap-files",
    "a bootstrap node that is gone: its address in files of a master",
    &[BOOTSTRAP_ADDRESS],
    check,
)
.only(Roles::Masters);

/// What people and programs find their way by.
const FILES: &[&str] = &["/etc/hosts", "/root/.kube/config", "/var/lib/kubelet/config.yaml"];

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let Some(node) = gone(context).await? else { return Ok(Vec::new()) };
        let mut lines = Vec::new();
        for path in FILES {
            let text = context.text(path)?.unwrap_or_default();
            lines.extend(line_with(&text, node.ip).map(|number| format!("{path}, line {number}")));
        }
        Ok(evaluate(&node.name, node.ip, &lines).into_iter().collect())
    })
}

/// The number of the first line that holds the address, as a whole.
fn line_with(text: &str, ip: IpAddr) -> Option<usize> {
    let ip = ip.to_string();
    let is_of_an_address = |one: char| one.is_ascii_hexdigit() || one == '.';
    let holds = |line: &str| {
        line.match_indices(&ip).any(|(at, _)| {
            let (before, behind) = (line[..at].chars().next_back(), line[at + ip.len()..].chars().next());
            !before.is_some_and(is_of_an_address) && !behind.is_some_and(is_of_an_address)
        })
    };
    text.lines().position(|line| !line.trim_start().starts_with('#') && holds(line)).map(|index| index + 1)
}

fn evaluate(name: &str, ip: IpAddr, lines: &[String]) -> Option<Finding> {
    if lines.is_empty() {
        return None;
    }
    let evidence = format!("{} name {ip}, the address of {name}, which does not answer", lines.join("; "));
    let fix = "write the address of a master, or of the cluster's endpoint, in its place";
    Some(Finding::warning(BOOTSTRAP_ADDRESS, Part::Workloads, evidence).with_fix(fix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_found_whole() {
        let ip = "10.0.0.9".parse().unwrap();
        for (text, expected) in [
            ("127.0.0.1 localhost\n10.0.0.9 api\n", Some(2)),
            ("server: https://10.0.0.9:6443\n", Some(1)),
            ("10.0.0.90 a\n110.0.0.9 b\n# 10.0.0.9 c\n", None),
            ("", None),
        ] {
            assert_eq!(line_with(text, ip), expected, "{text}");
        }
        assert_eq!(evaluate("bootstrap", ip, &[]), None);
    }
}
