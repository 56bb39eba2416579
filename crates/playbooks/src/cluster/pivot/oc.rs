//! `oc` is another name of kubectl, because documents for clusters with a bootstrap node say `oc get co`.

use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Host};

use super::super::ids;

/// Makes the link.
pub(in super::super) struct Oc;

impl Step for Oc {
    type Seen = Vec<Change>;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(ids::OC, "Let oc be kubectl", "commands of documents of this kind work as they are typed")
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Change>, StepError> {
        let link = Change::Link { path: "/usr/local/bin/oc".into(), target: "kubectl".into() };
        Ok(Change::missing(vec![link], &*host.disk)?)
    }

    fn plan(&self, missing: &Vec<Change>) -> Result<Vec<Change>, StepError> {
        Ok(missing.clone())
    }
}
