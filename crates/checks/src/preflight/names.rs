//! The machine's own name leads to its own address. Another answer would send others, and itself, somewhere else.

use std::net::IpAddr;

use host::CommandError;

use super::{Check, Context, advice, problem};
use crate::{Checking, Finding, codes};

/// See [`super`].
pub(super) const CHECK: Check =
    Check::new("names", "the host name resolves to the node's address", &[codes::NAME_LEADS_ELSEWHERE], check);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let name = &context.node.hostname;
        let ip = context.node.ip;
        let hosts = context.text("/etc/hosts")?.unwrap_or_default();
        let own = from_hosts(&hosts, name);
        if !own.is_empty() {
            return Ok(evaluate(name, ip, &own, "/etc/hosts"));
        }
        // It exits with an error for a name it does not know, and that is an answer.
        let command = host::Cmd::new("getent").args(["ahosts", name.as_str()]);
        match context.host.commands.run(&command).await {
            Ok(printed) => Ok(evaluate(name, ip, &from_getent(&printed.stdout), "the resolver")),
            Err(CommandError::Failed { .. }) => Ok(evaluate(name, ip, &[], "the resolver")),
            Err(error) => Err(error.into()),
        }
    })
}

fn evaluate(name: &str, wanted: IpAddr, found: &[IpAddr], who: &str) -> Vec<Finding> {
    // Debian's installer points the name to 127.0.1.1; that is this machine, if not its address.
    let elsewhere: Vec<String> =
        found.iter().filter(|ip| **ip != wanted && !ip.is_loopback()).map(ToString::to_string).collect();
    if found.contains(&wanted) {
        Vec::new()
    } else if !elsewhere.is_empty() {
        let message = format!("{who} leads `{name}` to {}, not to {wanted}", elsewhere.join(", "));
        problem(codes::NAME_LEADS_ELSEWHERE, message)
    } else {
        let seen = if found.is_empty() { "does not know" } else { "has only a loopback address for" };
        let hint = format!("`blackstart node detect` writes `{wanted} {name}` to /etc/hosts");
        advice(format!("{who} {seen} `{name}`"), hint)
    }
}

fn from_hosts(hosts: &str, name: &str) -> Vec<IpAddr> {
    let lines = hosts.lines().map(|line| line.split('#').next().unwrap_or_default());
    let entries = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        let ip: IpAddr = words.next()?.parse().ok()?;
        words.any(|word| word.eq_ignore_ascii_case(name)).then_some(ip)
    });
    entries.collect()
}

fn from_getent(ahosts: &str) -> Vec<IpAddr> {
    let mut found: Vec<IpAddr> = Vec::new();
    for ip in ahosts.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()) {
        if !found.contains(&ip) {
            found.push(ip);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{super::reported, *};

    #[test]
    fn what_hosts_says() {
        let hosts = "127.0.0.1 localhost\n127.0.1.1 Master-01 # by the installer\n# 10.0.0.9 master-01\n\
                     10.0.0.1\tmaster-01.home master-01\nnonsense\n";
        assert_eq!(from_hosts(hosts, "master-01"), [IpAddr::from([127, 0, 1, 1]), IpAddr::from([10, 0, 0, 1])]);
        assert!(from_hosts(hosts, "master-1").is_empty());
    }

    #[test]
    fn what_the_resolver_says() {
        let text = "10.0.0.7     STREAM master-01\n10.0.0.7     DGRAM\n10.0.0.7     RAW\nfd00::7   STREAM\n";
        let expected: [IpAddr; 2] = [[10, 0, 0, 7].into(), "fd00::7".parse().unwrap()];
        assert_eq!(from_getent(text), expected);
    }

    #[test]
    fn the_right_address_must_be_among_them() {
        let own = IpAddr::from([10, 0, 0, 1]);
        let loopback = IpAddr::from([127, 0, 1, 1]);
        let other = IpAddr::from([10, 0, 0, 2]);
        let cases: [&[IpAddr]; 5] = [&[own], &[loopback, own], &[], &[loopback], &[loopback, other]];
        let verdicts: Vec<_> = cases.iter().map(|found| evaluate("master-01", own, found, "/etc/hosts")).collect();
        insta::assert_snapshot!(reported(verdicts));
    }
}
