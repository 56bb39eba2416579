//! Routes to the pods of other nodes, by the protocol that our agent marks them with.

use engine::StepError;
use host::{Cmd, Host};

/// Removes every route of this protocol, from every table.
pub async fn remove(host: &Host, protocol: &str) -> Result<(), StepError> {
    for family in ["-4", "-6"] {
        let flush = Cmd::new("ip").args([family, "route", "flush", "table", "all", "proto", protocol]);
        super::run(host, flush).await?;
    }
    Ok(())
}
