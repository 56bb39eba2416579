//! `blackstart watch`: all nodes, live.
//!
//! ```text
//! source   this node's cluster, or a lab's ─┬─ asking: every master, with whatever certificate is there (or a greeting)
//!                                           ├─ published: milestones of a bootstrap node, from the API if there is one
//!                                           └─ looking: the run on this machine, or on all machines of the lab
//! facts    what came in ─► evaluate (pure) ─► view ─► JSON, or text (pure) ─► screen, or printed once
//! ```
//! There need not be an API server: nodes report to the masters' join services, also before they have joined, and a lab's
//! machines can be looked into from the first moment. To show something more: a field in `view.rs`, its line in `evaluate.rs`
//! and `text.rs`, and its row in `docs/reference/watch.md`.

mod asking;
mod bootstrap;
mod evaluate;
mod facts;
mod node_view;
mod published;
mod screen;
mod source;
#[cfg(test)]
mod tests;
mod text;
mod view;

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use futures::future::{OptionFuture, join, join_all};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::{mpsc, watch},
    task::JoinSet,
    time::sleep,
};

use self::{evaluate::evaluate, screen::Screen, source::Source, view::View};
use crate::{
    Exit, Failure, Output,
    cli::WatchOptions,
    codes,
    context::{Context, Ended, block_on},
    output,
};

/// Between two pictures when nothing is heard: time passes in them.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

pub(super) fn run(context: &Context, options: &WatchOptions) -> Result<(), Ended> {
    let source = match &options.lab {
        Some(name) => Source::lab(context, &name.parse()?)?,
        None => Source::node(context)?,
    };
    if context.out.is_json() && !options.once {
        return block_on(stream(context, &source))?;
    }
    if options.once || !io::stdout().is_terminal() {
        let view = block_on(once(context, &source))??;
        return if context.out.is_json() { Ok(context.out.json(&view)?) } else { print(context.out, &view) };
    }
    let mut last = None;
    let ended = block_on(live(context, &source, &mut last))?;
    // The last picture stays on the terminal.
    if let Some(view) = last {
        print(context.out, &view)?;
    }
    ended
}

fn print(out: Output, view: &View) -> Result<(), Ended> {
    let text: String = text::lines(view, None).iter().map(|line| line.print(None, out.color()) + "\n").collect();
    Ok(out.text(&text)?)
}

/// Asks everybody once.
async fn once(context: &Context, source: &Source) -> Result<View, Ended> {
    let mut facts = source.facts();
    let asked = source.masters().map(async |mut master| (master.once().await, master.name));
    let published = OptionFuture::from(source.published().map(async |published| published.once().await));
    let (answers, published) = join(join_all(asked), published).await;
    for (answer, name) in answers {
        facts.take(&name, answer, context.host.clock.now());
    }
    facts.published = published.unwrap_or_default();
    source.check(&mut facts)?;
    let view = evaluate(&facts, context.host.clock.now());
    // Not with the masters: no one waits for a bootstrap node that is gone.
    let Some(mut bootstrap) = source.bootstrap().filter(|bootstrap| view.has_master(&bootstrap.name)) else {
        return Ok(view);
    };
    let answer = bootstrap.once().await;
    facts.take(&bootstrap.name, answer, context.host.clock.now());
    Ok(evaluate(&facts, context.host.clock.now()))
}

/// One line of JSON per change, as long as there is a reader.
async fn stream(context: &Context, source: &Source) -> Result<(), Ended> {
    let mut reported = None;
    follow(context, source, |view| {
        let essence = view.essence();
        if reported.as_ref() == Some(&essence) {
            return Ok(true);
        }
        reported = Some(essence);
        let mut line =
            serde_json::to_vec(&view).map_err(|error| Failure::new(codes::CANNOT_PRINT, error.to_string()))?;
        line.push(b'\n');
        Ok(output::print_to_reader(&line)?)
    })
    .await
}

/// A picture that is drawn over itself.
async fn live(context: &Context, source: &Source, last: &mut Option<View>) -> Result<(), Ended> {
    let screen = Screen::enter(context.out.color());
    follow(context, source, |view| {
        screen.draw(|width| text::lines(&view, Some(width)));
        *last = Some(view);
        Ok(true)
    })
    .await
}

/// Shows every moment until the reader is gone or a signal comes.
async fn follow(
    context: &Context,
    source: &Source,
    mut show: impl FnMut(View) -> Result<bool, Ended>,
) -> Result<(), Ended> {
    let no_signals =
        |error: io::Error| Failure::new(codes::NO_RUNTIME, format!("cannot install signal handlers: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(no_signals)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(no_signals)?;
    let (emit, mut reported) = mpsc::channel(16);
    let mut asking = JoinSet::new();
    for master in source.masters() {
        asking.spawn(master.forever(emit.clone()));
    }
    let name = source.bootstrap().map(|bootstrap| bootstrap.name).unwrap_or_default();
    let mut bootstrap = source.bootstrap().map(|bootstrap| asking.spawn(bootstrap.forever(emit.clone())));
    let (publish, published) = watch::channel(Vec::new());
    if let Some(source) = source.published() {
        asking.spawn(source.forever(publish));
    }
    let mut facts = source.facts();
    loop {
        source.check(&mut facts)?;
        facts.published.clone_from(&published.borrow());
        let view = evaluate(&facts, context.host.clock.now());
        // Its address may soon be another machine's.
        if !view.has_master(&name)
            && facts.is_gone(&name)
            && let Some(task) = bootstrap.take()
        {
            task.abort();
        }
        if !show(view)? {
            return Ok(());
        }
        tokio::select! {
            Some((master, answer)) = reported.recv() => facts.take(&master, answer, context.host.clock.now()),
            () = sleep(CHECK_INTERVAL) => {}
            _ = interrupt.recv() => return Err(Ended::Reported(Exit::Interrupted)),
            _ = terminate.recv() => return Err(Ended::Reported(Exit::Interrupted)),
        }
    }
}
