//! Reports that several tests talk about.

use std::collections::BTreeMap;

use explain::{Diagnostic, Message};

use crate::{Prep, Report, Requirement, State, Verdict};

/// A node on which iSCSI works.
pub(crate) fn ready() -> Report {
    Report {
        version: 1,
        prep: Prep::Iscsi,
        state: State::Ready,
        text: Message::text("open-iscsi 2.1.8-1 is installed, iscsid runs, and a login to a local target worked"),
        seen: BTreeMap::from([("package".into(), "open-iscsi 2.1.8-1".into())]),
        requirements: vec![Requirement::new("memory", Verdict::Met, "8.0 GiB")],
        at: "2026-11-17T10:00:00Z".parse().unwrap(),
        boot_id: "3f0a7c1e-0000-4000-8000-000000000001".into(),
    }
}

/// A node whose kernel has no iSCSI.
pub(crate) fn incapable() -> Report {
    Report {
        state: State::Incapable,
        text: Message::Error(Diagnostic {
            code: "BS-PREP-009".into(),
            message: "open-iscsi 2.1.8-1 is installed, but kernel 6.18.44 has no iSCSI initiator".into(),
            hint: "boot a kernel with the module iscsi_tcp".into(),
        }),
        requirements: vec![
            Requirement::new("memory", Verdict::Warning, "2.0 GiB, 4 GiB are recommended"),
            Requirement::new("disk", Verdict::Unmet, "0.2 GiB free at /var"),
        ],
        ..ready()
    }
}
