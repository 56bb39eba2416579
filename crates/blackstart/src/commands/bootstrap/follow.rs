//! `blackstart bootstrap follow`: what bootkube's journal says, each line once, when it is true.

use std::{collections::BTreeSet, time::Duration};

use nodekit::bootkube;
use tokio::time::sleep;

use super::records;
use crate::context::{Context, Ended, block_on_until_signal};

/// People look at it.
const PAUSE: Duration = Duration::from_millis(500);

pub(super) fn run(context: &Context) -> Result<(), Ended> {
    block_on_until_signal(async {
        let mut printed = BTreeSet::new();
        loop {
            let records = records(context)?;
            for line in bootkube::lines(&records) {
                if !printed.contains(&line) {
                    context.out.text(&format!("{line}\n"))?;
                    printed.insert(line);
                }
            }
            if printed.contains(bootkube::LAST) {
                return Ok(());
            }
            sleep(PAUSE).await;
        }
    })
}
