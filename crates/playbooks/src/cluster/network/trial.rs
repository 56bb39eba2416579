//! The trial of a connection, under guard. Afterwards it is active and proved, or everything is as it was.
//!
//! What the plan shows as a file is what stays, in `/etc`. The trial's own file is in `/run`: the act writes and removes it,
//! because it has to be there exactly as long as the guard that rolls the trial back, also after a crash.

use std::time::Duration;

use engine::StepError;
use host::Host;
use nodekit::network::{
    guard::{self, Guard},
    links,
    manager::Manager,
    reach::Proof,
};
use tokio::time::{Instant, sleep};

use super::{
    Network,
    staged::{self, Staged},
};
use crate::codes;

/// A switch may take some seconds to let a changed machine talk.
const DEADLINE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(100);

impl Network {
    /// Activates the connection from `/run`, and lets it stay active if it proves itself.
    pub(super) async fn try_out(&self, host: &Host) -> Result<(), StepError> {
        let manager = Manager::new(host);
        let found = self.interface(host).await?;
        let connection = Staged::connection(&self.cluster, &self.node, found.mac);
        // The file is there before the guard, so a guard that a killed run left is known by it.
        guard::clear(host, host.disk.exists(&connection.trial)?).await?;
        manager.wait_until_stable(&found.name).await?;
        let proof = Proof::find(host, &self.cluster, &self.node, &found.name).await?;
        connection.on_trial().apply(&*host.disk)?;
        let guard = Guard::set(host, &found.name).await?;
        match self.activate(host, &found.name, &connection, &proof).await {
            Ok(()) => guard.lift().await,
            Err(error) => Err(match go_back(host, guard, &found.name, &connection).await {
                Ok(()) => error,
                Err(second) => error.with_source(second), // the guard goes back by itself, a little later
            }),
        }
    }

    async fn activate(
        &self,
        host: &Host,
        interface: &str,
        connection: &Staged,
        proof: &Proof,
    ) -> Result<(), StepError> {
        let manager = Manager::new(host);
        manager.load(&connection.trial).await?;
        manager.up(staged::UUID, interface).await?;
        let until = Instant::now() + DEADLINE;
        loop {
            let missing = match (self.has_address(host, interface).await?, proof.holds(host, interface).await?) {
                (true, true) => return Ok(()),
                (false, _) => format!("{} does not appear on it", self.node.ip),
                (true, false) => silent(proof),
            };
            if Instant::now() > until {
                let message = format!("with the new configuration of {interface}, {missing}");
                return Err(StepError::new(codes::CUT_OFF, message));
            }
            sleep(POLL).await;
        }
    }

    async fn has_address(&self, host: &Host, interface: &str) -> Result<bool, StepError> {
        let links = links::read(host).await?;
        let addresses = links.iter().filter(|link| link.name == interface).flat_map(|link| &link.addresses);
        Ok(addresses.into_iter().any(|address| address.is(self.node.ip, self.prefix())))
    }
}

async fn go_back(host: &Host, guard: Guard<'_>, interface: &str, connection: &Staged) -> Result<(), StepError> {
    host.doing("going back to the old configuration");
    let manager = Manager::new(host);
    guard.roll_back().await?;
    host::remove_file(&*host.disk, &connection.trial)?;
    manager.reload_connections().await?;
    manager.wait_until_stable(interface).await
}

/// Who should have answered.
fn silent(Proof(any_of): &Proof) -> String {
    match any_of.as_slice() {
        [one] => format!("{one} does not answer"),
        several => {
            let each: Vec<String> = several.iter().map(ToString::to_string).collect();
            format!("none of {} answers any more", each.join(", "))
        }
    }
}
