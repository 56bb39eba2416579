//! The lab's network: a bridge, and the way out for packages.

use std::fs;

use crate::{
    Lab, LabError, LabName, cuts,
    run::{feed, output, run},
};

const FORWARD: &str = "/proc/sys/net/ipv4/ip_forward";

/// Whether the bridge, the way out and forwarding are all there.
pub(crate) async fn is_there(lab: &Lab) -> bool {
    let addresses = output(&format!("ip -o -4 addr show dev {}", lab.name.bridge())).await.unwrap_or_default();
    let table = output(&format!("nft list table ip {}", lab.name.nat_table())).await.unwrap_or_default();
    lab.gateway.is_none_or(|gateway| addresses.contains(&format!(" {gateway}/")))
        && link_exists(&lab.name.bridge())
        && table.contains("masquerade")
        && forwards()
}

/// Whether this computer forwards packets.
pub(crate) fn forwards() -> bool {
    fs::read_to_string(FORWARD).is_ok_and(|text| text.trim() == "1")
}

/// Makes bridge and way out; what is there already is made again where that does no harm. The cuts of a lab come back
/// with its bridge, after the computer itself was off.
pub(crate) async fn create(lab: &Lab) -> Result<(), LabError> {
    let bridge = lab.name.bridge();
    if link_exists(&bridge) {
        run(&format!("ip addr flush dev {bridge}")).await?; // of an earlier lab in another network
    } else {
        run(&format!("ip link add {bridge} type bridge")).await?;
    }
    if let Some(gateway) = lab.gateway {
        run(&format!("ip addr replace {gateway}/{} dev {bridge}", lab.subnet.prefix_len())).await?;
    }
    run(&format!("ip link set {bridge} up")).await?;
    let (table, subnet) = (lab.name.nat_table(), lab.subnet);
    // Deleting in the same transaction needs the table to exist; declaring it first makes sure. Where the kernel shows
    // bridged packets to this table too, those between machines keep their address: pods have addresses of their own.
    let rules = format!(
        "table ip {table}\n\
         delete table ip {table}\n\
         table ip {table} {{\n\
         \tchain out {{\n\
         \t\ttype nat hook postrouting priority srcnat\n\
         \t\tip saddr {subnet} ip daddr != {subnet} oifname != \"{bridge}\" masquerade\n\
         \t}}\n\
         }}\n"
    );
    feed("nft -f -", &rules).await?;
    cuts::apply(lab, &cuts::read(lab)).await?;
    if forwards() {
        return Ok(());
    }
    fs::write(FORWARD, "1").map_err(LabError::while_doing(format!("write {FORWARD}")))
}

/// Removes bridge, links and tables of a lab.
pub(crate) async fn remove(name: &LabName) -> Result<(), LabError> {
    let prefix = format!("{}-", name.bridge());
    for link in links().into_iter().filter(|link| link.starts_with(&prefix) || *link == name.bridge()) {
        delete_link("ip link", &link).await?;
    }
    for (family, table) in [("ip", name.nat_table()), ("bridge", name.cut_table())] {
        let tables = output("nft list tables").await?;
        if tables.lines().any(|line| line == format!("table {family} {table}")) {
            run(&format!("nft delete table {family} {table}")).await?;
        }
    }
    Ok(())
}

/// Deletes a link, wherever `ip` finds it. The link of a machine that was killed a moment ago may go away on its own
/// at the same time.
pub(crate) async fn delete_link(ip: &str, link: &str) -> Result<(), LabError> {
    let deleted = run(&format!("{ip} delete {link}")).await;
    if run(&format!("{ip} show dev {link}")).await.is_err() { Ok(()) } else { deleted }
}

/// The names of all interfaces of this computer.
pub(crate) fn links() -> Vec<String> {
    let entries = fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

pub(crate) fn link_exists(name: &str) -> bool {
    std::path::Path::new("/sys/class/net").join(name).exists()
}

/// The name servers machines use: those of this computer that can be reached from elsewhere.
pub(crate) fn name_servers() -> Vec<String> {
    // systemd-resolved listens on loopback only and keeps the real ones in a file of its own.
    let files = ["/run/systemd/resolve/resolv.conf", "/etc/resolv.conf"];
    let servers = files.iter().filter_map(|file| fs::read_to_string(file).ok()).map(|text| parse_name_servers(&text));
    servers.into_iter().find(|servers| !servers.is_empty()).unwrap_or_else(|| vec!["8.8.8.8".to_owned()])
}

fn parse_name_servers(text: &str) -> Vec<String> {
    let words = text.lines().filter_map(|line| line.strip_prefix("nameserver"));
    words
        .map(|word| word.trim().to_owned())
        .filter(|server| !server.starts_with("127.") && !server.contains(':'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_servers_that_a_machine_can_reach() {
        let text =
            "# made by hand\nnameserver 127.0.0.53\nnameserver 10.0.0.53\nnameserver fe80::1\nsearch example.org\n";
        assert_eq!(parse_name_servers(text), ["10.0.0.53"]);
    }
}
