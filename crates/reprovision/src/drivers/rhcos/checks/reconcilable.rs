//! The machine-config-daemon would take the config on this machine.

use std::path::Path;

use checks::{Check, Checking, Inconclusive};

use super::super::{
    problem::Problem,
    reconcilable::{fips, problems},
    stored::Target,
};
use crate::{codes::NOT_RECONCILABLE, drivers::Subject};

/// See [`super`].
pub(super) const CHECK: Check<Subject> = Check::new(
    "reconcilable",
    "the machine-config-daemon can make what is wanted of this machine in place",
    &[NOT_RECONCILABLE],
    check,
);

const FIPS: &str = "/proc/sys/crypto/fips_enabled";

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async move {
        let disk = &*subject.host.disk;
        let target = Target::read(disk, &subject.run)
            .map_err(|_| Inconclusive("there is no payload that can be judged".to_owned()))?;
        let fips = disk.read_optional(Path::new(FIPS))?.and_then(|text| fips(&text));
        Ok(problems(&target.config, fips).iter().map(Problem::finding).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            super::{samples::Sample, testing::Machine},
            reported,
        },
        *,
    };

    #[tokio::test]
    async fn the_machine_decides_on_fips() {
        let machine = Machine::default();
        assert_eq!(reported(&CHECK, &machine).await, "  unclear: there is no payload that can be judged\n");
        machine.fetched(&Sample::default().served());
        assert_eq!(reported(&CHECK, &machine).await, "  nothing\n");
        machine.write(FIPS, "1\n");
        insta::assert_snapshot!(reported(&CHECK, &machine).await, @"  Cause BS-IPB-041 the machine is in FIPS mode, and the MachineConfig is one without it");
    }
}
