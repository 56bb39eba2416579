//! The clock can be right, and somebody keeps it right. Certificates made with a wrong clock are refused by everybody.

use std::path::Path;

use explain::Explain;
use pki::{Existing, Which};

use super::super::{
    Check, Context, Finding, Roles, When,
    check::{Checking, Inconclusive},
};
use crate::{cluster::pki_input, codes};

/// See [`super`].
pub(in super::super) const CHECK: Check = Check {
    name: "clock",
    about: "the clock is plausible and kept right",
    roles: Roles::All,
    when: When::Always,
    run: check,
};

/// systemd-timesyncd touches it when it has set the clock.
const SYNCHRONISED: &str = "/run/systemd/timesync/synchronized";

fn check<'a>(context: &'a Context<'a>) -> Checking<'a> {
    Box::pin(async move {
        let now = context.host.clock.now();
        // The PKI decides which clocks it issues certificates with; asked for what is due, it looks at the clock first.
        let existing = Existing::read(&*context.host.disk, &context.layout.kubernetes_dir)?;
        let renewal = pki::renewal(&existing, &pki_input(context.cluster, context.node), now, Which::Due);
        if let Err(error) = renewal
            && error.code() == pki::codes::CLOCK
        {
            return Ok(Finding::problem(codes::CLOCK_WRONG, format!("the clock says {now}")));
        }
        if context.host.disk.exists(Path::new(SYNCHRONISED))? {
            return Ok(Finding::Fine);
        }
        // It asks the kernel, so it is right for chrony and ntpd as well.
        evaluate(&context.output("timedatectl", ["show", "-p", "NTPSynchronized"]).await?)
    })
}

fn evaluate(timedatectl: &str) -> Result<Finding, Inconclusive> {
    match timedatectl.trim() {
        "NTPSynchronized=yes" => Ok(Finding::Fine),
        "NTPSynchronized=no" => Ok(Finding::warning(
            "nothing keeps the clock right: it is plausible, but not synchronised",
            "enable `systemd-timesyncd` or `chronyd`: when clocks drift apart, certificates and leases fail",
        )),
        other => Err(Inconclusive(format!("`timedatectl show` answers `{other}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_nobody_keeps_right_is_a_warning() {
        assert_eq!(evaluate("NTPSynchronized=yes\n"), Ok(Finding::Fine));
        assert!(matches!(evaluate("NTPSynchronized=no\n"), Ok(Finding::Warning { .. })));
        assert!(evaluate("").is_err());
    }
}
