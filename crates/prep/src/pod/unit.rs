//! The work as a unit of the node's own systemd, started by the node's own `systemd-run`.
//!
//! The unit has limits of its own. Its name is fixed: while one runs, systemd refuses another, and the next pod joins it.

use std::time::Duration;

use host::{Cmd, Commands};
use nodekit::from_pod::{self, on_node};

use crate::{PodError, Prep, paths};

/// However slow a mirror is; then the run is killed and the next one repairs what it left.
const LONGEST_RUN: Duration = Duration::from_mins(30);
/// apt with the largest index takes a third of it; more would be a mistake, and must not push out what the node is for.
const MOST_MEMORY: &str = "1G";

/// Whether the unit runs, or is about to.
pub(super) async fn is_running(commands: &dyn Commands, prep: Prep) -> Result<bool, PodError> {
    from_pod::is_running(commands, &paths::unit(prep)).await.map_err(PodError::Systemd)
}

/// Starts the unit. With the type `exec` the answer comes when the script has been started, so one that
/// cannot be is an error.
pub(super) async fn start(commands: &dyn Commands, prep: Prep) -> Result<(), PodError> {
    from_pod::ask(commands, &start_command(prep)).await.map(drop).map_err(PodError::Systemd)
}

fn start_command(prep: Prep) -> Cmd {
    on_node("systemd-run")
        .args([
            format!("--unit={}", paths::unit(prep)),
            format!("--description=Prepare this node: {prep}"),
            format!("--property=RuntimeMaxSec={}", LONGEST_RUN.as_secs()),
            format!("--property=MemoryMax={MOST_MEMORY}"),
        ])
        .args(["--collect", "--quiet", "--service-type=exec", "--nice=10"])
        .arg(paths::script(prep))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_has_a_fixed_name_and_limits_of_its_own() {
        insta::assert_snapshot!(start_command(Prep::Iscsi).to_string().replace(" --", "\n  --"), @r"
        chroot /host systemd-run
          --unit=node-bootstrap-iscsi.service
          --description=Prepare this node: iscsi
          --property=RuntimeMaxSec=1800
          --property=MemoryMax=1G
          --collect
          --quiet
          --service-type=exec
          --nice=10 /usr/local/bin/iscsi-bootstrap.sh
        ");
    }
}
