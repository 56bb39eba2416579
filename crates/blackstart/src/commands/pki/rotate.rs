//! `blackstart pki rotate`: new keys for a cluster that works on.
//!
//! ```text
//! for each stage:  master after master: its control plane ─► all nodes at once: kubelets and the rest ─► the next one
//! at `sign`, between the two:  Secrets are encrypted with the new key, tokens in Secrets made again
//! at `sign`, behind both:      programs in pods have read their new tokens
//! ```
//! This command gives the turns, waits, and writes Secrets again; the agents do the rest (`crates/agent/src/rotation`).
//! Everything it knows is in the Secret that the agents follow, and in what etcd and the nodes show, so it can be stopped
//! anywhere and gone on with on another master.

mod choice;
mod cluster;
mod ending;
mod secrets;

use std::time::{Duration, Instant};

use agent::rotation::{BACKUP_KEY, Rotation, Subject, Subjects, Successors, Turn};
use pki::Stage;
use render::Encryption;
use serde_json::{Value, json};
use tokio::time::sleep;

use self::{choice::There, cluster::Way};
use super::{existing, master};
use crate::{
    Failure,
    cli::{RotationStage, RotationSubject},
    codes,
    context::{Context, Ended, block_on},
    output::{confirm, note},
    progress::{busy, busy_counting},
};

/// A node that takes longer is stuck, and an operator has to look at it.
const DEADLINE: Duration = Duration::from_mins(10);
const PAUSE: Duration = Duration::from_secs(1);

/// A node whose agent has just been restarted is heard again within this time.
const HEARD_AGAIN: Duration = Duration::from_secs(10);

/// A program in a pod may use its old token for this long after its file was replaced: Kubernetes' own client library reads
/// it again after a minute at most. On top of that, the oldest report that says so.
const TOKENS_READ: Duration = Duration::from_secs(60 + 15);

/// What was asked for.
pub(in crate::commands) struct Asked<'a> {
    pub(in crate::commands) subjects: &'a [RotationSubject],
    pub(in crate::commands) all: bool,
    pub(in crate::commands) stop_after: Option<RotationStage>,
    pub(in crate::commands) yes: bool,
}

pub(in crate::commands) fn rotate(context: &Context, asked: &Asked<'_>) -> Result<(), Ended> {
    if !context.host.is_live {
        return Err(Failure::usage(codes::NOT_LIVE, "this machine was not booted by systemd").into());
    }
    let cluster = context.cluster(None)?;
    let own = master(context, &cluster, None)?;
    let way = Way::new(&context.host, &context.layout, &cluster, own);
    let _lock = engine::lock_machine(&context.host, &context.layout.state_dir, "pki rotate")?;
    let wanted: Vec<Subject> = asked.subjects.iter().copied().map(Subject::from).collect();
    let (subjects, notes) = choice::choose(&wanted, asked.all, there(&way)?)?;
    notes.into_iter().for_each(note);
    let known = busy(context.out, "checking the cluster", || block_on(way.read()))??;
    let begun = match known {
        Some(rotation) => gone_on_with(rotation, &subjects)?,
        None => begin(context, &way, &subjects, asked.yes)?,
    };
    let last = asked.stop_after.map_or(Stage::Drop, |stage| match stage {
        RotationStage::Trust => Stage::Trust,
        RotationStage::Sign => Stage::Sign,
    });
    let mut reported = Reported { subjects, turns: Vec::new(), revoked: None, backup: None };
    if begun.stage > last {
        note(&format!("stage `{}` is behind it, and nothing was done\n", last.name()));
        return if context.out.is_json() { reported.json(context, begun.stage, false) } else { Ok(()) };
    }
    for stage in Stage::ALL.into_iter().filter(|stage| *stage >= begun.stage && *stage <= last) {
        for what in way.work(stage, &begun.subjects) {
            let took = work(context, &way, stage, &begun, &what)?;
            reported.turns.push(json!({ "stage": stage.name(), "who": what.name(), "seconds": took.as_secs() }));
        }
    }
    if last == Stage::Drop {
        end(context, &way, asked.all, &mut reported)?;
    }
    if context.out.is_json() {
        return reported.json(context, last, last == Stage::Drop);
    }
    Ok(context.out.text(&ending::words(&reported.subjects, asked.all, last))?)
}

/// Something that is waited for before the next may begin.
pub(in crate::commands::pki::rotate) enum Work {
    /// A node goes to the stage.
    Turn(Turn),
    /// Every Secret is encrypted with the new key.
    Encrypt,
    /// Every token in a Secret is of the new key.
    RenewTokens,
    /// Every program in a pod uses a token of the new key.
    TokensRead,
}

impl Work {
    fn name(&self) -> String {
        match self {
            Self::Turn(Turn::Master(name)) => format!("control plane of {name}"),
            Self::Turn(Turn::Nodes) => "all nodes".to_owned(),
            Self::Encrypt => "Secrets are encrypted with the new key".to_owned(),
            Self::RenewTokens => "tokens in Secrets".to_owned(),
            Self::TokensRead => "programs in pods read their tokens again".to_owned(),
        }
    }
}

/// What was done, for scripts.
struct Reported {
    subjects: Subjects,
    turns: Vec<Value>,
    revoked: Option<usize>,
    backup: Option<String>,
}

impl Reported {
    fn json(&self, context: &Context, stage: Stage, is_finished: bool) -> Result<(), Ended> {
        let subjects: Vec<&str> = self.subjects.iter().map(|subject| subject.name()).collect();
        Ok(context.out.json(&json!({
            "subjects": subjects,
            "stage": stage.name(),
            "finished": is_finished,
            "turns": self.turns,
            "tokens_revoked": self.revoked,
            "backup": self.backup,
        }))?)
    }
}

fn there(way: &Way<'_>) -> Result<There, Failure> {
    Ok(There {
        encryption: Encryption::parse(&way.text("encryption.yaml")?).is_some(),
        join: way.has_join_key()?,
        backup: way.has_config(BACKUP_KEY)?,
    })
}

/// One that was begun goes to its end before another can begin.
fn gone_on_with(rotation: Rotation, subjects: &Subjects) -> Result<Rotation, Failure> {
    if rotation.subjects != *subjects {
        let begun = Subject::list(&rotation.subjects);
        let message = format!("a rotation of other keys is under way, at stage `{}`: {begun}", rotation.stage.name());
        let hint =
            format!("finish it first, with the command that began it: `blackstart pki rotate {begun}`, or `--all`");
        return Err(Failure::new(codes::OTHER_ROTATION, message).with_hint(hint));
    }
    note(&format!("going on with the rotation that was begun: stage `{}`\n", rotation.stage.name()));
    Ok(rotation)
}

/// Refuses what could not be finished, asks, and writes the new keys down for all masters.
fn begin(context: &Context, way: &Way<'_>, subjects: &Subjects, yes: bool) -> Result<Rotation, Ended> {
    let now = context.host.clock.now();
    if subjects.contains(&Subject::Ca) {
        pki::check_rotatable(&existing(context)?, way.cluster.name(), now)?;
    }
    // New keys would bring back a machine that was removed and still runs: its kubelet is started again with them.
    let removed = block_on(way.not_members())??;
    if !removed.is_empty() {
        let message = format!("in cluster.yaml and not in the cluster: {}", removed.join(", "));
        return Err(Failure::new(codes::NOT_A_MEMBER, message).into());
    }
    let absent = busy(context.out, "asking every node", || block_on(absent(way)))??;
    if !absent.is_empty() {
        let message = format!("not heard of in the last seconds: {}", absent.join(", "));
        return Err(Failure::new(codes::LEFT_BEHIND, message).into());
    }
    if !yes {
        note(&format!(
            "keys of cluster `{}` are replaced on {} nodes: {}; API servers restart one after the other\n",
            way.cluster.name(),
            way.cluster.nodes().len(),
            Subject::list(subjects)
        ));
    }
    confirm(yes, "Go on?")?;
    let successors = Successors::make(way.cluster, subjects, now)?;
    Ok(block_on(way.begin(subjects, &successors))??)
}

/// The nodes that stay silent.
async fn absent(way: &Way<'_>) -> Result<Vec<String>, Failure> {
    let until = Instant::now() + HEARD_AGAIN;
    loop {
        let absent = way.absent().await?;
        if absent.is_empty() || Instant::now() > until {
            return Ok(absent);
        }
        sleep(PAUSE).await;
    }
}

/// Does one thing of a stage, or gives a node the turn and returns when it has reached the stage.
fn work(context: &Context, way: &Way<'_>, stage: Stage, rotation: &Rotation, what: &Work) -> Result<Duration, Ended> {
    let (started, whom) = (Instant::now(), what.name());
    let doing = format!("{}: {whom}", stage.name());
    let mut more = String::new();
    match what {
        Work::Encrypt => {
            let written = busy_counting(context.out, &doing, |say| block_on(way.encrypt(rotation, say)))??;
            more = format!("{}, ", explain::counted(written, "Secret"));
        }
        what => busy(context.out, &doing, || block_on(reach(way, stage, rotation, what)))??,
    }
    if !context.out.is_json() {
        let seconds = started.elapsed().as_secs_f64();
        context.out.text(&format!("{:<5}  {whom}  ({more}{seconds:.0} s)\n", stage.name()))?;
    }
    Ok(started.elapsed())
}

async fn reach(way: &Way<'_>, stage: Stage, rotation: &Rotation, what: &Work) -> Result<(), Failure> {
    let until = Instant::now() + DEADLINE;
    let mut is_given = !matches!(what, Work::Turn(_));
    let mut complete = None;
    loop {
        // Own API server and etcd restart on the way: what does not answer is asked again.
        let outcome = match what {
            Work::Turn(turn) if !is_given => way.give(stage, turn).await.map(|()| {
                is_given = true;
                vec![what.name()]
            }),
            Work::RenewTokens => way.renew_tokens().await,
            Work::Turn(turn) => way.missing(stage, &rotation.subjects, turn).await,
            Work::Encrypt | Work::TokensRead => way.missing(stage, &rotation.subjects, &Turn::Nodes).await,
        };
        let why = match outcome {
            Ok(missing) if missing.is_empty() => {
                // Not once but all the time: a pod that has just started may show that it is not so.
                let since = *complete.get_or_insert_with(Instant::now);
                if !matches!(what, Work::TokensRead) || since.elapsed() >= TOKENS_READ {
                    return Ok(());
                }
                "programs may still use the token they have read a minute ago".to_owned()
            }
            Ok(missing) => {
                complete = None;
                format!("still waiting for {}", missing.join(", "))
            }
            Err(failure) => failure.diagnostic.message,
        };
        if Instant::now() > until {
            let message =
                format!("stage `{}` is not reached after {} minutes: {why}", stage.name(), DEADLINE.as_secs() / 60);
            return Err(Failure::new(codes::ROTATION_WAITS, message));
        }
        sleep(PAUSE).await;
    }
}

/// What comes behind the last stage. The rotation is over only when all of it is done: until then the same command does it
/// again.
fn end(context: &Context, way: &Way<'_>, all: bool, reported: &mut Reported) -> Result<(), Ended> {
    let say = |text: String| if context.out.is_json() { Ok(()) } else { context.out.text(&text) };
    if all {
        let revoked = block_on(async { ending::revoke_tokens(&way.client().await?).await })??;
        say(format!("{} revoked\n", explain::counted(revoked, "bootstrap token")))?;
        reported.revoked = Some(revoked);
        if way.cluster.bootstrap().token.is_some() {
            note("cluster.yaml has a bootstrap token of its own: take it out, or put another one in, on every node\n");
        }
    }
    if reported.subjects.contains(&Subject::Backup) || reported.subjects.contains(&Subject::Join) {
        let made = busy(context.out, "making a backup for the new key", || block_on(way.back_up(context)))??;
        say(format!("{}: a backup for the new key; older ones open with the old key only\n", made.display()))?;
        reported.backup = Some(made.display().to_string());
    }
    Ok(block_on(way.end())??)
}
