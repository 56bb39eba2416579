//! The table, in the words in which nft itself lists it, so that both can be compared.

use host::Cmd;
use ipnet::IpNet;
use spec::ports;

/// A reset of the node removes it.
const TABLE: &str = "table inet blackstart-shield";

/// Lists it; fails where there is none.
pub(super) fn list() -> Cmd {
    Cmd::new("nft").args(["list", "table", "inet", "blackstart-shield"])
}

/// Loads it in one transaction, so that there is no moment without it.
pub(super) fn load(pods: IpNet) -> Cmd {
    // The first line makes the table, so that the second one has something to remove.
    Cmd::new("nft").args(["-f", "-"]).input(format!("{TABLE}\ndelete {TABLE}\n{}", wanted(pods)))
}

/// True if the listing is exactly our table.
pub(super) fn is_loaded(listing: &str, pods: IpNet) -> bool {
    listing.split_whitespace().eq(wanted(pods).split_whitespace())
}

/// Before other tables of the filter, which may accept what they know. Before that a service may have been exchanged for its
/// end: a Service that leads to the port is no way to it either.
pub(super) fn wanted(pods: IpNet) -> String {
    let ip = match pods {
        IpNet::V4(_) => "ip",
        IpNet::V6(_) => "ip6",
    };
    let port = ports::JOIN;
    let chain = |hook: &str| {
        format!(
            "	chain {hook} {{
		type filter hook {hook} priority filter - 10; policy accept;
		{ip} saddr {pods} tcp dport {port} drop
	}}
"
        )
    };
    format!("{TABLE} {{\n{}\n{}}}\n", chain("forward"), chain("input"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_in_both_families() {
        let both = ["10.244.0.0/16", "fd00:10:244::/56"].map(|pods| wanted(pods.parse().unwrap())).concat();
        insta::assert_snapshot!(both);
    }

    #[test]
    fn a_table_that_was_changed_is_loaded_again() {
        let pods = "10.244.0.0/16".parse().unwrap();
        let listing = wanted(pods);
        assert!(is_loaded(&listing, pods));
        for other in ["", &listing.replacen("drop", "accept", 1), &listing.replace("7444", "7445")] {
            assert!(!is_loaded(other, pods), "{other}");
        }
        assert!(!is_loaded(&listing, "10.245.0.0/16".parse().unwrap()));
    }
}
