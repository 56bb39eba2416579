//! The clock can be right, and is kept right. Certificates made with a wrong clock are refused everywhere.

use std::path::Path;

use explain::Explain;
use pki::{Existing, Input, Which};

use super::{Check, Context, advice, problem};
use crate::{Checking, Finding, Inconclusive, codes};

/// See [`super`].
pub(super) const CHECK: Check =
    Check::new("clock", "the clock is plausible and kept right", &[codes::CLOCK_WRONG], check);

/// systemd-timesyncd touches it when it has set the clock.
const SYNCHRONISED: &str = "/run/systemd/timesync/synchronized";

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let now = context.host.clock.now();
        // The PKI decides which clocks it issues certificates with; asked for what is due, it looks at the clock first.
        let existing = Existing::read(&*context.host.disk, &context.layout.kubernetes_dir)?;
        let renewal = pki::renewal(&existing, &Input::for_node(&context.cluster, &context.node), now, Which::Due);
        if let Err(error) = renewal
            && error.code() == pki::codes::CLOCK
        {
            return Ok(problem(codes::CLOCK_WRONG, format!("the clock says {now}")));
        }
        if context.host.disk.exists(Path::new(SYNCHRONISED))? {
            return Ok(Vec::new());
        }
        // It asks the kernel, so it is right for chrony and ntpd as well.
        evaluate(&context.output("timedatectl", ["show", "-p", "NTPSynchronized"]).await?)
    })
}

fn evaluate(timedatectl: &str) -> Result<Vec<Finding>, Inconclusive> {
    match timedatectl.trim() {
        "NTPSynchronized=yes" => Ok(Vec::new()),
        "NTPSynchronized=no" => Ok(advice(
            "nothing keeps the clock right: it is plausible, but not synchronised",
            "enable `systemd-timesyncd` or `chronyd`: when clocks drift apart, certificates and leases fail",
        )),
        other => Err(Inconclusive(format!("`timedatectl show` answers `{other}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn a_clock_that_is_not_synchronised_is_a_warning() {
        assert_eq!(evaluate("NTPSynchronized=yes\n"), Ok(Vec::new()));
        let found = evaluate("NTPSynchronized=no\n").unwrap();
        assert_eq!(found.first().map(|found| found.kind), Some(Kind::Warning));
        assert!(evaluate("").is_err());
    }
}
