//! `blackstart node status`: how this node is, in a few seconds, whatever is broken.
//!
//! Everything that can be looked at is looked at, each with a time limit of its own (`gather`); what cannot be seen is a
//! fact too, with the reason. From the facts alone comes the [`Status`] (`verify`), which is shown as text (`show`) or as
//! JSON. To show something more: a fact in `facts`, its line in `verify`, its line in `show`, its row in
//! `docs/reference/node-status.md`.

mod api;
mod evaluate;
mod facts;
mod gather;
#[cfg(test)]
mod samples;
mod show;
mod units;

use self::evaluate::Status;
use crate::{
    Exit,
    context::{Context, Ended, block_on},
};

pub(in crate::commands) fn status(context: &Context, name: Option<&str>) -> Result<(), Ended> {
    let status = Status::of(block_on(gather::facts(context, name))?);
    if context.out.is_json() {
        context.out.json(&status)?;
    } else {
        context.out.text(&show::show(&status, context.out.color()))?;
    }
    match status.state.exit() {
        Exit::Done => Ok(()),
        exit => Err(Ended::Reported(exit)),
    }
}
