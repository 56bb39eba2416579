//! Runs whose record is kept on the node, for `node status`, `node timeline` and `watch`.

use std::sync::Arc;

use explain::Diagnostic;
use nodekit::run_record::{Purpose, RecordKeeper};
use playbooks::cluster;

use crate::{
    codes,
    context::{Context, Ended},
};

impl Context {
    /// Does what leads to a run and the run itself; the keeper has to get its events. Where it ends before the
    /// run begins, that is kept too, with the reason.
    pub(crate) fn recorded<T>(
        &self,
        purpose: Purpose,
        work: impl FnOnce(&Arc<RecordKeeper>) -> Result<T, Ended>,
    ) -> Result<T, Ended> {
        let keeper = Arc::new(RecordKeeper::new(&self.host.disk, &self.layout.state_dir, purpose));
        let ended = work(&keeper);
        if let Err(why) = &ended {
            self.note_early_end(&keeper, why);
        }
        keeper.finish();
        ended
    }

    fn note_early_end(&self, keeper: &RecordKeeper, why: &Ended) {
        let diagnostic = match why {
            // The run that holds the lock keeps its own record, and this one has done nothing.
            Ended::Failure(failure) if failure.diagnostic.code == engine::codes::LOCKED => return,
            Ended::Failure(failure) => failure.diagnostic.clone(),
            Ended::Reported(_) => Diagnostic::new(codes::BAD_CONFIGURATION, codes::BAD_CONFIGURATION.meaning),
        };
        keeper.never_began(cluster::NAME, diagnostic, self.host.clock.now());
    }
}
