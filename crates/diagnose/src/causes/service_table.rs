//! kube-proxy's nftables table: without it no service has an address, though kube-proxy runs and logs nothing.

use host::{Cmd, CommandError};

use playbooks::cluster::ids;

use crate::{Check, Checking, Context, Finding, Part, codes::SERVICE_TABLE_GONE};

/// See [`super`].
pub(crate) const CHECK: Check =
    Check::new("service-table", "kube-proxy's nftables rules for Services", &[SERVICE_TABLE_GONE], check);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if !context.was_done(ids::KUBE_PROXY).await? {
            return Ok(Vec::new());
        }
        let family = if context.cluster.networking().dns_service_ip().is_ipv4() { "ip" } else { "ip6" };
        let listed = Cmd::new("nft").args(["list", "chain", family, "kube-proxy", "services"]).env("LC_ALL", "C");
        match context.host.commands.run(&listed).await {
            Ok(printed) => Ok(evaluate(family, &printed.stdout).into_iter().collect()),
            Err(CommandError::Failed { output, .. }) if output.contains("No such file") => {
                let evidence = format!("there is no nftables table `{family} kube-proxy` with a chain `services`");
                Ok(vec![Finding::cause(SERVICE_TABLE_GONE, Part::KubeProxy, evidence)])
            }
            Err(error) => Err(error.into()),
        }
    })
}

/// A chain without rules sends no packet anywhere.
fn evaluate(family: &str, listed: &str) -> Option<Finding> {
    let has_rules = listed.contains("vmap") || listed.contains("goto") || listed.contains("jump");
    let evidence = format!("chain `services` of the nftables table `{family} kube-proxy` has no rules");
    (!has_rules).then(|| Finding::cause(SERVICE_TABLE_GONE, Part::KubeProxy, evidence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_must_lead_somewhere() {
        let full = "table ip kube-proxy {\n\tchain services {\n\t\tip daddr . meta l4proto . th dport vmap @service-ips\n\t}\n}";
        assert_eq!(evaluate("ip", full), None);
        assert!(evaluate("ip", "table ip kube-proxy {\n\tchain services {\n\t}\n}").is_some());
    }
}
