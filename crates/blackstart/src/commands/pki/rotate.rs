//! `blackstart pki rotate-ca`: new certificate authorities for a cluster that works on.
//!
//! ```text
//! for each stage:  master after master: its control plane ─► all nodes at once: kubelets and the rest ─► the next one
//! ```
//! This command only gives the turns and waits; the agents do the work (`crates/agent/src/rotation`). Everything it knows is
//! in the Secret that the agents follow, so it can be stopped anywhere and gone on with on another master.

mod cluster;

use std::time::{Duration, Instant};

use agent::rotation::{Rotation, Turn};
use pki::{Stage, Successors};
use serde_json::{Value, json};
use tokio::time::sleep;

use self::cluster::Way;
use super::{existing, master};
use crate::{
    Failure,
    cli::RotationStage,
    codes,
    context::{Context, Ended, block_on},
    output::{confirm, note},
    progress::busy,
};

/// A node that takes longer is stuck, and somebody has to look at it.
const PATIENCE: Duration = Duration::from_mins(10);
const PAUSE: Duration = Duration::from_secs(1);

pub(in crate::commands) fn rotate(
    context: &Context,
    stop_after: Option<RotationStage>,
    yes: bool,
) -> Result<(), Ended> {
    if !context.host.is_live {
        return Err(Failure::usage(codes::NOT_LIVE, "this is not a machine that systemd has booted").into());
    }
    let cluster = context.cluster(None)?;
    let own = master(context, &cluster, None)?;
    let way = Way::new(&context.host, &context.layout, &cluster, own);
    let _lock = engine::lock_machine(&context.host, &context.layout.state_dir, "pki rotate-ca")?;
    let known = busy(context.out, "looking at the cluster", || block_on(way.read()))??;
    let begun = match known {
        Some(rotation) => {
            note(&format!("going on with the rotation that was begun: stage `{}`\n", rotation.stage.name()));
            rotation
        }
        None => begin(context, &way, yes)?,
    };
    let last = stop_after.map_or(Stage::Drop, |stage| match stage {
        RotationStage::Trust => Stage::Trust,
        RotationStage::Sign => Stage::Sign,
    });
    if begun.stage > last {
        note(&format!("stage `{}` is behind it, and nothing was done\n", last.name()));
        return if context.out.is_json() { as_json(context, begun.stage, false, &[]) } else { Ok(()) };
    }
    let mut told = Vec::new();
    for stage in Stage::ALL.into_iter().filter(|stage| *stage >= begun.stage && *stage <= last) {
        for who in way.turns() {
            let took = turn(context, &way, stage, &who)?;
            told.push(json!({ "stage": stage.name(), "who": name(&who), "seconds": took.as_secs() }));
        }
    }
    if last == Stage::Drop {
        block_on(way.end())??;
    }
    end(context, last, &told)
}

/// Refuses what could not be finished, asks, and writes the new authorities down for all masters.
fn begin(context: &Context, way: &Way<'_>, yes: bool) -> Result<Rotation, Ended> {
    let now = context.host.clock.now();
    pki::check_rotatable(&existing(context)?, way.cluster.name(), now)?;
    let absent = busy(context.out, "asking every node", || block_on(way.absent()))??;
    if !absent.is_empty() {
        let message = format!("not heard of in the last seconds: {}", absent.join(", "));
        return Err(Failure::new(codes::LEFT_BEHIND, message).into());
    }
    if !yes {
        note(&format!(
            "the authorities of cluster `{}` are replaced on {} nodes; API servers restart one after the other\n",
            way.cluster.name(),
            way.cluster.nodes().len()
        ));
    }
    confirm(yes, "Go on?")?;
    let successors = Successors::make(way.cluster.name(), now)?;
    Ok(block_on(way.begin(&successors))??)
}

/// Gives somebody the turn and returns when they have reached the stage.
fn turn(context: &Context, way: &Way<'_>, stage: Stage, who: &Turn) -> Result<Duration, Ended> {
    let (started, whom) = (Instant::now(), name(who));
    let waited = busy(context.out, &format!("{}: {whom}", stage.name()), || block_on(reach(way, stage, who)))?;
    waited?;
    if !context.out.is_json() {
        context.out.text(&format!("{:<5}  {whom}  ({:.0} s)\n", stage.name(), started.elapsed().as_secs_f64()))?;
    }
    Ok(started.elapsed())
}

async fn reach(way: &Way<'_>, stage: Stage, who: &Turn) -> Result<(), Failure> {
    let until = Instant::now() + PATIENCE;
    let mut is_given = false;
    loop {
        // Own API server and etcd restart on the way: what does not answer is asked again.
        let outcome = if is_given {
            way.missing(stage, who).await
        } else {
            way.give(stage, who).await.map(|()| {
                is_given = true;
                vec![name(who)]
            })
        };
        let why = match outcome {
            Ok(missing) if missing.is_empty() => return Ok(()),
            Ok(missing) => format!("still waiting for {}", missing.join(", ")),
            Err(failure) => failure.message,
        };
        if Instant::now() > until {
            let message =
                format!("stage `{}` is not reached after {} minutes: {why}", stage.name(), PATIENCE.as_secs() / 60);
            return Err(Failure::new(codes::ROTATION_WAITS, message));
        }
        sleep(PAUSE).await;
    }
}

fn name(turn: &Turn) -> String {
    match turn {
        Turn::Master(name) => format!("control plane of {name}"),
        Turn::Nodes => "all nodes".to_owned(),
    }
}

fn end(context: &Context, last: Stage, told: &[Value]) -> Result<(), Ended> {
    if context.out.is_json() {
        return as_json(context, last, last == Stage::Drop, told);
    }
    let text = match last {
        Stage::Trust => {
            "halted; restart pods that read the cluster's authority only when they start, then run `blackstart pki rotate-ca` again\n"
        }
        Stage::Sign => {
            "halted; copy admin.conf anew to where it is used outside of the cluster, then run `blackstart pki rotate-ca` again\n"
        }
        Stage::Drop => {
            "the cluster trusts its new authorities only\n\
             outside of it: copy admin.conf to where it is used, and seal directories of nodes to come with the new authorities\n"
        }
    };
    Ok(context.out.text(text)?)
}

fn as_json(context: &Context, stage: Stage, is_finished: bool, turns: &[Value]) -> Result<(), Ended> {
    Ok(context.out.json(&json!({ "stage": stage.name(), "finished": is_finished, "turns": turns }))?)
}
