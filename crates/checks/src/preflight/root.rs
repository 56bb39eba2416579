//! The program runs as root, with the rights that root has.

use super::{Check, Context, problem};
use crate::{Checking, Finding, Inconclusive, Part, codes};

/// See [`super`].
pub(super) const CHECK: Check =
    Check::new("root", "the program runs as root, with root's rights", &[codes::NOT_ROOT], check);

/// Mounts, control groups, namespaces.
const SYS_ADMIN: u32 = 21;
/// Addresses, routes, packet filters.
const NET_ADMIN: u32 = 12;

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move { evaluate(&context.required_text("/proc/self/status")?) })
}

fn evaluate(status: &str) -> Result<Vec<Finding>, Inconclusive> {
    let user = field(status, "Uid:").and_then(|ids| ids.split_whitespace().nth(1)).ok_or_else(garbled)?;
    if user != "0" {
        return Ok(problem(codes::NOT_ROOT, format!("the program runs as user {user}")));
    }
    let rights = field(status, "CapEff:").and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    let rights = rights.ok_or_else(garbled)?;
    let needed = [(SYS_ADMIN, "CAP_SYS_ADMIN"), (NET_ADMIN, "CAP_NET_ADMIN")];
    let lacking: Vec<&str> = needed.iter().filter(|(bit, _)| rights & (1 << bit) == 0).map(|(_, name)| *name).collect();
    if lacking.is_empty() {
        return Ok(Vec::new());
    }
    let message = format!("the program runs as root, but without {}", lacking.join(" and "));
    let hint = "run it outside of the container or unit that takes these rights away";
    Ok(vec![Finding::cause(codes::NOT_ROOT, Part::Machine, message).with_fix(hint)])
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name))
}

fn garbled() -> Inconclusive {
    Inconclusive("no user ID in /proc/self/status".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{super::reported, *};

    #[test]
    fn root_with_its_rights() {
        let status = |uid: &str, rights: &str| format!("Name:\tcat\nUid:\t0\t{uid}\t0\t0\nCapEff:\t{rights}\n");
        let verdicts: Vec<_> = [
            status("0", "000001ffffffffff"),
            status("1000", "0000000000000000"),
            status("0", "00000000a80425fb"),
            status("0", "0000000000201000"),
            "Name:\tcat\n".to_owned(),
        ]
        .iter()
        .map(|status| evaluate(status))
        .collect();
        insta::assert_snapshot!(reported(verdicts));
    }
}
