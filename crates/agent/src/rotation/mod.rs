//! Takes this master from one stage of a rotation of keys to the next, when it is its turn.
//!
//! `blackstart pki rotate` gives the turns and waits for what masters say they have reached. A turn is: files, then a
//! restart of whatever reads them only once, one after the other and each seen to be well before the next (an etcd that
//! leads hands over before). It can be interrupted anywhere: files that are there are not written again,
//! and a process that is younger than its file is not restarted again.
//!
//! What the controllers, the kubelets and everything else on a node needs is `renewal`'s concern, on masters as on
//! workers. Nodes hear of a stage when all masters have reached it: see `ca`.

mod object;
pub mod pass;
mod restarts;
mod subject;
mod successors;

use futures::StreamExt;
use host::Host;
use join::{JoinKey, Marks, wire::Heard};
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
    runtime::watcher::{Event, watcher},
};
use nodekit::Layout;
use operations::outage::Outage;
use pki::Stage;

pub use self::{
    object::{NAME, NAMESPACE, Rotation, Turn},
    subject::{Subject, Subjects},
    successors::{BACKUP_KEY, Successors},
};
pub use crate::error::Unreadable;
use crate::{Agent, AgentError, ca, join_key, renewal, sealed::ENCRYPTION, session};

/// Runs until a turn of this master is over, or its credentials are renewed.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    let mut turn = None;
    let wait = async |client| {
        turn = Some(next_turn(agent, client).await?);
        Ok(())
    };
    session::with_client(agent, wait).await?;
    // Outside of the session: it ends as soon as its own kubeconfig is written again.
    let Some(rotation) = turn else { return Ok(()) };
    take(agent, &rotation).await?;
    session::with_client(agent, |client| emit(agent, client, &rotation)).await
}

/// Announces what nodes are to trust and hold, until there is something to do here.
async fn next_turn(agent: &Agent, client: Client) -> Result<Rotation, AgentError> {
    let secrets: Api<Secret> = Api::namespaced(client, NAMESPACE);
    let mut stream = watcher(secrets, session::watching().fields(&format!("metadata.name={NAME}"))).boxed();
    let mut outage = Outage::new("follow the rotation of keys");
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
            Event::Delete(_) => {
                seen = None;
                pass::forget(&agent.host, &agent.paths)?;
            }
        }
        let rotation = seen.as_ref().map(Rotation::of).transpose()?;
        let agreed = rotation.as_ref().is_none_or(|rotation| rotation.turn == Turn::Nodes);
        let under_way = rotation.as_ref().map(|rotation| (&rotation.subjects, rotation.stage));
        let marks = if agreed { marks(&agent.host, &agent.paths, under_way)? } else { None };
        let reported = Heard { marks, rotating: rotation.is_some() };
        agent.ca.announced.send_if_modified(|known| std::mem::replace(known, reported.clone()) != reported);
        if let Some(rotation) = rotation.filter(|rotation| rotation.is_turn_of(&agent.node.name)) {
            return Ok(rotation);
        }
    }
}

/// What this master has, and every node is to have once all masters do. Nodes' secrets are of the new join key from the
/// stage on at which it makes them. `None` before there are keys.
pub fn marks(host: &Host, paths: &Layout, rotation: Option<(&Subjects, Stage)>) -> Result<Option<Marks>, AgentError> {
    let key = host.disk.read_optional(&paths.kubernetes_dir.join(pki::table::SERVICE_ACCOUNT.key))?;
    let tokens = key.and_then(|key| pki::token_key_id(&key));
    let (Some(ca), Some(tokens)) = (ca::mark_of(host, paths)?, tokens) else { return Ok(None) };
    let replaces = |(subjects, stage): &(&Subjects, Stage)| subjects.contains(&Subject::Join) && *stage >= Stage::Sign;
    let join = match rotation.filter(replaces) {
        Some(_) => join_key::read(host, paths)?.first().map(JoinKey::mark),
        None => None,
    };
    Ok(Some(Marks { ca, tokens, join }))
}

/// Everything up to the proof that it works.
async fn take(agent: &Agent, rotation: &Rotation) -> Result<(), AgentError> {
    let encryption = agent.host.disk.read(&agent.paths.kubernetes_dir.join(ENCRYPTION))?;
    let successors = pass::open(agent, rotation, &String::from_utf8_lossy(&encryption)).await?;
    let stage = rotation.stage;
    for change in successors.changes(agent, stage)? {
        tracing::info!(stage = stage.name(), "rotating: {change}");
        change.apply(&*agent.host.disk)?;
    }
    restarts::control_plane(agent, &rotation.subjects, stage).await?;
    renewal::restart_outdated(agent).await
}

/// Reports that it is done.
async fn emit(agent: &Agent, client: Client, rotation: &Rotation) -> Result<(), AgentError> {
    let secrets: Api<Secret> = Api::namespaced(client, NAMESPACE);
    let (name, stage) = (agent.node.name.as_str(), rotation.stage);
    let patch = Patch::Merge(Rotation::report(name, stage));
    secrets.patch(NAME, &PatchParams::default(), &patch).await.map_err(AgentError::api("report a rotation"))?;
    tracing::info!(stage = stage.name(), "this master has reached the stage");
    Ok(())
}
