//! Swap. The kubelet runs with it and lets no pod use it, but the machine's own services may still be swapped out, etcd
//! among them.

use super::super::{Check, Context, Finding, Roles, When, check::Checking};

/// See [`super`].
pub(in super::super) const CHECK: Check =
    Check { name: "swap", about: "swap is off", roles: Roles::All, when: When::Always, run: check };

fn check<'a>(context: &'a Context<'a>) -> Checking<'a> {
    Box::pin(async move { Ok(evaluate(&context.text_if_any("/proc/swaps")?.unwrap_or_default())) })
}

/// The first line is a heading.
fn evaluate(swaps: &str) -> Finding {
    let areas: Vec<&str> = swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    if areas.is_empty() {
        return Finding::Fine;
    }
    Finding::warning(
        format!("swap is on: {}; services that are swapped out answer late, etcd too late", areas.join(", ")),
        "`swapoff -a`, and remove the lines of type swap from /etc/fstab (or mask the swap unit)",
    )
}

#[cfg(test)]
mod tests {
    use super::{super::super::check::reported, *};

    #[test]
    fn swap_is_a_warning_that_names_it() {
        let heading = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
        assert_eq!(evaluate(heading), Finding::Fine);
        assert_eq!(evaluate(""), Finding::Fine);
        let on = format!("{heading}/dev/sda2  partition\t999420\t0\t-2\n/dev/zram0  partition\t1024\t0\t100\n");
        insta::assert_snapshot!(reported([evaluate(&on)]));
    }
}
