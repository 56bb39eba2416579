//! Pods that talk to the world outside the pod network do it under the node's address: one rule in a table of our own.

use host::Cmd;
use ipnet::IpNet;

/// The table's name; a reset of the node removes it.
const TABLE: &str = "blackstart";

/// Lists the table; fails where there is none.
pub(super) fn list(family: IpNet) -> Cmd {
    Cmd::new("nft").args(["list", "table", keyword(family), TABLE])
}

/// Loads the table in one transaction, so that there is no moment without it.
pub(super) fn load(own: IpNet, pods: IpNet) -> Cmd {
    let name = format!("table {} {TABLE}", keyword(own));
    // The first line makes the table, so that the second one has something to empty.
    Cmd::new("nft").args(["-f", "-"]).input(format!("{name}\nflush {name}\n{}", table(own, pods)))
}

/// True if the listing is exactly our table.
pub(super) fn is_loaded(listing: &str, own: IpNet, pods: IpNet) -> bool {
    listing.split_whitespace().eq(table(own, pods).split_whitespace())
}

/// In the words in which nft itself lists it, so that both can be compared.
fn table(own: IpNet, pods: IpNet) -> String {
    let ip = keyword(own);
    format!(
        "table {ip} {TABLE} {{
	chain postrouting {{
		type nat hook postrouting priority srcnat; policy accept;
		{ip} saddr {own} {ip} daddr != {pods} masquerade
	}}
}}
"
    )
}

fn keyword(family: IpNet) -> &'static str {
    match family {
        IpNet::V4(_) => "ip",
        IpNet::V6(_) => "ip6",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_in_both_families() {
        let both = [("10.244.1.0/24", "10.244.0.0/16"), ("fd00:10:244:1::/64", "fd00:10:244::/56")]
            .map(|(own, pods)| table(own.parse().unwrap(), pods.parse().unwrap()))
            .concat();
        insta::assert_snapshot!(both);
    }

    #[test]
    fn a_table_that_was_changed_is_loaded_again() {
        let (own, pods) = ("10.244.1.0/24".parse().unwrap(), "10.244.0.0/16".parse().unwrap());
        let listing = table(own, pods);
        assert!(is_loaded(&listing, own, pods));
        assert!(!is_loaded("", own, pods));
        assert!(!is_loaded(&listing.replace("masquerade", "accept"), own, pods));
        assert!(!is_loaded(&listing, "10.244.2.0/24".parse().unwrap(), pods));
    }
}
