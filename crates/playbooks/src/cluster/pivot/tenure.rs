//! How far a bootstrap node has got with giving up what it holds: two files say so.

use host::{Disk, HostError};
use nodekit::Layout;

use super::{hand_over::decision, keys_erased::retired};

/// What a bootstrap node still is to its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tenure {
    /// It raises the control plane, or waits for the masters.
    Holds,
    /// The masters take over: what is gone here is gone on purpose.
    HandsOver,
    /// The cluster goes on without it.
    Retired,
}

/// Reads it.
pub fn tenure(disk: &dyn Disk, layout: &Layout) -> Result<Tenure, HostError> {
    Ok(if disk.exists(&retired(layout))? {
        Tenure::Retired
    } else if disk.exists(&decision(layout))? {
        Tenure::HandsOver
    } else {
        Tenure::Holds
    })
}

#[cfg(test)]
mod tests {
    use host::{Change, Content, disk::model::ModelDisk};

    use super::*;

    #[test]
    fn each_file_is_a_stage() {
        let (disk, layout) = (ModelDisk::default(), Layout::default());
        let note = |path| Change::File { path, mode: 0o644, content: Content::Plain(Vec::new()) }.apply(&disk).unwrap();
        assert_eq!(tenure(&disk, &layout).unwrap(), Tenure::Holds);
        note(decision(&layout));
        assert_eq!(tenure(&disk, &layout).unwrap(), Tenure::HandsOver);
        note(retired(&layout));
        assert_eq!(tenure(&disk, &layout).unwrap(), Tenure::Retired);
    }
}
