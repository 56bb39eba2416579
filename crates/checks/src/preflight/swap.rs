//! Swap. The kubelet runs with it and lets no pod use it, but the machine's own services may still be swapped out, etcd
//! among them.

use super::{Check, Context, advice};
use crate::{Checking, Finding};

/// See [`super`].
pub(super) const CHECK: Check = Check::new("swap", "swap is off", &[], check);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move { Ok(evaluate(&context.text("/proc/swaps")?.unwrap_or_default())) })
}

/// The first line is a heading.
fn evaluate(swaps: &str) -> Vec<Finding> {
    let areas: Vec<&str> = swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    if areas.is_empty() {
        return Vec::new();
    }
    advice(
        format!("swap is on: {}; services that are swapped out answer late, etcd too late", areas.join(", ")),
        "`swapoff -a`, and remove the lines of type swap from /etc/fstab (or mask the swap unit)",
    )
}

#[cfg(test)]
mod tests {
    use super::{super::reported, *};

    #[test]
    fn swap_is_a_warning_that_names_it() {
        let heading = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
        assert_eq!(evaluate(heading), Vec::new());
        assert_eq!(evaluate(""), Vec::new());
        let on = format!("{heading}/dev/sda2  partition\t999420\t0\t-2\n/dev/zram0  partition\t1024\t0\t100\n");
        insta::assert_snapshot!(reported([evaluate(&on)]));
    }
}
