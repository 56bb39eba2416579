//! `/etc/hosts`: all nodes by name, in a block of ours, so that no node needs a name server to find another.

use spec::{Node, ValidatedCluster};

const BEGIN: &str = "# BEGIN blackstart (from cluster.yaml, do not edit)";
const END: &str = "# END blackstart";
/// Where some installers put the machine's own name. Others would resolve it to an address that leads to themselves.
const OWN_LOOPBACK: &str = "127.0.1.1";

/// The new text, from the existing one. Our block is replaced where it is, or added at the end; all other lines stay,
/// except that this node's names no longer lead to `127.0.1.1`.
pub fn hosts(cluster: &ValidatedCluster, node: &Node, existing: &str) -> String {
    let kept = |lines: &[&str]| lines.iter().filter_map(|line| without_own_loopback(line, node)).collect::<String>();
    let lines: Vec<&str> = existing.lines().collect();
    let begin = lines.iter().position(|line| *line == BEGIN);
    let end = begin.and_then(|begin| lines[begin..].iter().position(|line| *line == END).map(|length| begin + length));
    match (begin, end) {
        (Some(begin), Some(end)) => [kept(&lines[..begin]), block(cluster, node), kept(&lines[end + 1..])].concat(),
        // Half a block: a user who cut it may have put lines behind the mark.
        (Some(begin), None) => [kept(&lines[..begin]), kept(&lines[begin + 1..]), block(cluster, node)].concat(),
        (None, _) => [kept(&lines), block(cluster, node)].concat(),
    }
}

/// The bootstrap node knows itself, and no node has to forget it later.
fn block(cluster: &ValidatedCluster, own: &Node) -> String {
    let temporary = cluster.bootstrap_node().filter(|node| node.name == own.name);
    let nodes: String =
        cluster.nodes().iter().chain(temporary).map(|node| format!("{} {}\n", node.ip, names(node))).collect();
    format!("{BEGIN}\n{nodes}{END}\n")
}

/// The first name is the canonical one, which is the host name where the two differ.
fn names(node: &Node) -> String {
    if node.hostname == node.name { node.name.clone() } else { format!("{} {}", node.hostname, node.name) }
}

fn without_own_loopback(line: &str, node: &Node) -> Option<String> {
    let mut words = line.split_whitespace();
    if words.next() != Some(OWN_LOOPBACK) {
        return Some(format!("{line}\n"));
    }
    let is_own = |name: &&str| *name == node.name || *name == node.hostname;
    let all: Vec<&str> = words.collect();
    if !all.iter().any(is_own) {
        return Some(format!("{line}\n"));
    }
    let others: Vec<&str> = all.into_iter().filter(|name| !is_own(name)).collect();
    (!others.is_empty()).then(|| format!("{OWN_LOOPBACK} {}\n", others.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{HOME, OTHER, cluster, node};

    const INSTALLED: &str =
        "127.0.0.1\tlocalhost\n127.0.1.1\tworker-01.lan worker-01\n# a printer\n192.168.1.9 printer";

    fn home(existing: &str) -> String {
        let cluster = cluster(HOME);
        hosts(&cluster, node(&cluster, "worker-01"), existing)
    }

    #[test]
    fn what_was_there_stays() {
        insta::assert_snapshot!(home(INSTALLED));
    }

    #[test]
    fn host_names_come_first() {
        let cluster = cluster(OTHER);
        insta::assert_snapshot!(hosts(&cluster, node(&cluster, "m1"), ""));
    }

    #[test]
    fn twice_is_once() {
        let rows = [
            INSTALLED,
            "",
            "\n\n",
            "127.0.1.1 worker-01",
            &format!("{BEGIN}\nold\n{END}\nbehind\n"),
            &format!("a\n{BEGIN}\nb\n"),
        ];
        for existing in rows {
            let once = home(existing);
            assert_eq!(home(&once), once, "{existing}");
            assert_eq!(once.matches(BEGIN).count(), 1, "{once}");
        }
    }

    #[test]
    fn a_block_is_replaced_in_its_place_and_half_a_block_removes_no_other_line() {
        let replaced = home(&format!("before\n{BEGIN}\n10.0.0.1 old\n{END}\nbehind\n"));
        assert!(replaced.starts_with(&format!("before\n{BEGIN}\n192.168.1.10 master-01\n")), "{replaced}");
        assert!(replaced.ends_with(&format!("{END}\nbehind\n")) && !replaced.contains("old"), "{replaced}");
        let half = home(&format!("{BEGIN}\n10.0.0.7 mine\n"));
        assert!(half.starts_with(&format!("10.0.0.7 mine\n{BEGIN}\n")), "{half}");
    }
}
