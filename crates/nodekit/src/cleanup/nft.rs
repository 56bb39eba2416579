//! nftables' tables, by their names.

use engine::StepError;
use host::{Cmd, CommandError, Host};
use serde_json::Value;

use super::chains;

/// A family and a name: `("ip", "kube-proxy")`.
pub type Table = (&'static str, &'static str);

/// The table of the CNI plugin that leads ports of the node to pods. Rules for a container bear its id as their comment.
pub const HOST_PORTS: &str = "cni_hostport";

/// What a table in the ledger begins with.
const KEY: &str = "the nft table ";

/// Deletes the tables of these names, with everything in them.
pub async fn delete(host: &Host, tables: &[Table]) -> Result<(), StepError> {
    for (family, name) in present(&list(host).await?, tables) {
        host.doing(format!("delete the nft table {family} {name}"));
        super::run(host, Cmd::new("nft").args(["delete", "table", family, name])).await?;
    }
    Ok(())
}

/// Which of these tables are not there, in the form in which the ledger keeps them: a service that makes them later makes them
/// for one of our services.
pub async fn claim(host: &Host, tables: &[Table]) -> Result<Vec<String>, StepError> {
    let listing = if host.is_live { list(host).await? } else { String::new() };
    let there = present(&listing, tables);
    let absent = tables.iter().filter(|table| !there.contains(table));
    Ok(absent.map(|(family, name)| format!("{KEY}{family} {name}")).collect())
}

/// Whether a key of the ledger names a table.
pub fn is_key(key: &str) -> bool {
    key.starts_with(KEY)
}

/// Deletes a table that was not there before us, unless another program has put something into it.
pub async fn release(host: &Host, key: &str) -> Result<(), StepError> {
    let Some((family, name)) = key.strip_prefix(KEY).and_then(|table| table.split_once(' ')) else { return Ok(()) };
    let is_there = list(host).await?.lines().any(|line| line.split_whitespace().eq(["table", family, name]));
    if is_there {
        let listing = super::run(host, Cmd::new("nft").args(["-j", "list", "table", family, name])).await?;
        let is_idle =
            if name == HOST_PORTS { container_rules(&listing).is_empty() } else { chains::does_nothing(&listing) };
        if is_idle {
            super::run(host, Cmd::new("nft").args(["delete", "table", family, name])).await?;
        }
    }
    Ok(())
}

/// Removes the rules that lead ports of the node to these containers.
pub async fn remove_host_ports(host: &Host, containers: &[String]) -> Result<(), StepError> {
    for (family, name) in present(&list(host).await?, &[("ip", HOST_PORTS), ("ip6", HOST_PORTS)]) {
        let listing = super::run(host, Cmd::new("nft").args(["-j", "list", "table", family, name])).await?;
        for rule in container_rules(&listing) {
            if containers.contains(&rule.container) {
                let delete = ["delete", "rule", family, name, &rule.chain, "handle", &rule.handle];
                super::run(host, Cmd::new("nft").args(delete)).await?;
            }
        }
    }
    Ok(())
}

/// A rule for one container.
#[derive(Debug, PartialEq, Eq)]
struct ContainerRule {
    chain: String,
    handle: String,
    container: String,
}

fn container_rules(listing: &str) -> Vec<ContainerRule> {
    let listing: Value = serde_json::from_str(listing).unwrap_or_default();
    let rules = listing["nftables"].as_array().into_iter().flatten().map(|object| &object["rule"]);
    let of_a_container = |rule: &Value| {
        Some(ContainerRule {
            chain: rule["chain"].as_str()?.to_owned(),
            handle: rule["handle"].as_u64()?.to_string(),
            container: rule["comment"].as_str()?.to_owned(),
        })
    };
    rules.filter_map(of_a_container).collect()
}

async fn list(host: &Host) -> Result<String, StepError> {
    match host.commands.run(&Cmd::new("nft").args(["list", "tables"])).await {
        Ok(printed) => Ok(printed.stdout),
        // Without it there are no tables.
        Err(CommandError::NotStarted { .. }) => Ok(String::new()),
        Err(error) => Err(StepError::from_explained(&error)),
    }
}

/// Those that a listing names: lines of `table FAMILY NAME`.
fn present(listing: &str, tables: &[Table]) -> Vec<Table> {
    let is_there = |(family, name): &&Table| {
        let wanted = ["table", family, name];
        listing.lines().any(|line| line.split_whitespace().eq(wanted))
    };
    tables.iter().filter(is_there).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_known_by_family_and_whole_name() {
        let listing = "table ip kube-proxy\ntable ip6 kube-proxy-of-others\ntable inet blackstart\n";
        let ours = [("ip", "kube-proxy"), ("ip6", "kube-proxy"), ("ip", "blackstart")];
        assert_eq!(present(listing, &ours), [("ip", "kube-proxy")]);
        assert!(present("", &ours).is_empty());
    }

    #[test]
    fn rules_of_containers_bear_their_ids() {
        let listing = r#"{"nftables":[{"metainfo":{}},{"table":{"name":"cni_hostport"}},
            {"rule":{"chain":"output","handle":3,"expr":[]}},
            {"rule":{"chain":"hostports","handle":9,"comment":"4f2a","expr":[]}}]}"#;
        let rule = ContainerRule { chain: "hostports".into(), handle: "9".into(), container: "4f2a".into() };
        assert_eq!(container_rules(listing), [rule]);
        assert!(container_rules("").is_empty());
    }

    #[tokio::test]
    async fn an_image_has_no_tables_so_all_are_claimed() {
        let root = tempfile::tempdir().unwrap();
        let keys = claim(&Host::rooted(root.path()), &[("ip", "filter")]).await.unwrap();
        assert_eq!(keys, ["the nft table ip filter"]);
        assert!(is_key(&keys[0]) && !is_key("all of /var/lib/etcd"));
    }
}
