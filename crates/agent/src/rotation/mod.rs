//! Takes this master from one stage of a rotation of the authorities to the next, when it is its turn.
//!
//! `blackstart pki rotate-ca` gives the turns and waits for what masters say they have reached. A turn is: files, then a
//! restart of whatever reads its authorities only once, one after the other and each seen to be well before the next (an
//! etcd that leads hands over before, see `handover`). It
//! can be interrupted anywhere: files that are there are not written again, and a process that is younger than its file
//! is not restarted again.
//!
//! What the controllers, the kubelets and everything else with a kubeconfig needs is `renewal`'s concern, on masters as on
//! workers. Nodes hear of a stage when all masters have reached it: see `authority`.

mod handover;
mod object;
mod restarts;

use futures::StreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
    runtime::watcher::{Event, watcher},
};
use pki::{Existing, Input, Shared};

pub use self::object::{NAME, NAMESPACE, Rotation, Turn, Unreadable};
use crate::{Agent, AgentError, authority, outage::Outage, renewal, session};

/// Runs until a turn of this master is over, or its credentials are renewed.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    let mut turn = None;
    let wait = async |client| {
        turn = Some(next_turn(agent, client).await?);
        Ok(())
    };
    session::with_client(agent, wait).await?;
    // Outside of the session: it ends as soon as its own kubeconfig is written anew.
    let Some(rotation) = turn else { return Ok(()) };
    take(agent, &rotation).await?;
    session::with_client(agent, |client| tell(agent, client, &rotation)).await
}

/// Announces what nodes are to trust, until there is something to do here.
async fn next_turn(agent: &Agent, client: Client) -> Result<Rotation, AgentError> {
    let secrets: Api<Secret> = Api::namespaced(client, NAMESPACE);
    let mut stream = watcher(secrets, session::watching().fields(&format!("metadata.name={NAME}"))).boxed();
    let mut outage = Outage::new("follow the rotation of the authorities");
    let mut seen = None;
    loop {
        match session::next(&mut stream, &mut outage).await {
            Event::Init => {
                seen = None;
                continue;
            }
            Event::InitApply(secret) => {
                seen = Some(secret);
                continue;
            }
            Event::InitDone => {}
            Event::Apply(secret) => seen = Some(secret),
            Event::Delete(_) => seen = None,
        }
        let rotation = seen.as_ref().map(Rotation::of).transpose()?;
        let agreed = rotation.as_ref().is_none_or(|rotation| rotation.turn == Turn::Nodes);
        let mark = if agreed { authority::own_mark(agent)? } else { None };
        agent.authority.announced.send_if_modified(|known| std::mem::replace(known, mark.clone()) != mark);
        if let Some(rotation) = rotation.filter(|rotation| rotation.is_turn_of(&agent.node.name)) {
            return Ok(rotation);
        }
    }
}

/// Everything up to the proof that it works.
async fn take(agent: &Agent, rotation: &Rotation) -> Result<(), AgentError> {
    let encryption = agent.host.disk.read(&agent.paths.kubernetes_dir.join("encryption.yaml"))?;
    let successors = rotation.successors(&String::from_utf8_lossy(&encryption))?;
    let existing = Existing::read(&*agent.host.disk, &agent.paths.kubernetes_dir)?;
    let input = Input::new(&agent.cluster, &agent.node, Shared::Bring);
    let stage = rotation.stage;
    for change in pki::rotation(&existing, &input, &successors, stage, agent.host.clock.now())? {
        tracing::info!(stage = stage.name(), "rotating: {change}");
        change.apply(&*agent.host.disk)?;
    }
    restarts::control_plane(agent, stage).await?;
    renewal::restart_outdated(agent).await
}

/// Tells that it is done.
async fn tell(agent: &Agent, client: Client, rotation: &Rotation) -> Result<(), AgentError> {
    let secrets: Api<Secret> = Api::namespaced(client, NAMESPACE);
    let (name, stage) = (agent.node.name.as_str(), rotation.stage);
    let patch = Patch::Merge(Rotation::report(name, stage));
    secrets.patch(NAME, &PatchParams::default(), &patch).await.map_err(AgentError::api("tell of a rotation"))?;
    tracing::info!(stage = stage.name(), "this master has reached the stage");
    Ok(())
}
