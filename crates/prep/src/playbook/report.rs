//! What a run found, as the node keeps it and the cluster gets it.

use std::collections::BTreeMap;

use crate::{Report, State};
use engine::{StepError, StepFailure};
use explain::{Code, Explain, Message};
use host::Host;

use super::{
    Goal, Survey, Task,
    gpu::Evidence,
    iscsi,
    requirements::{self, Facts},
};
use crate::codes;

const VERSION: u32 = 1;

/// Errors that another run on the same machine would end with too.
const INCAPABLE: [Code; 2] = [codes::KERNEL_WITHOUT_ISCSI, codes::NO_GPU_DRIVER];

impl Survey {
    /// What is written before the first step.
    pub fn working(&self, task: &Task, host: &Host) -> Result<Report, StepError> {
        whole(self, task, host, None, (State::Working, Message::text("a run is under way")), BTreeMap::new())
    }

    /// What is written after the last one.
    pub async fn report(&self, task: &Task, host: &Host, ended: &engine::Report) -> Result<Report, StepError> {
        let seen = match task.goal {
            Goal::Iscsi { with_nfs } => iscsi::seen(host, &task.state_dir(), with_nfs).await?,
            Goal::Gpu { .. } => Evidence::read(host).await?.seen(),
        };
        let ending = ending(self, task, ended, &seen);
        whole(self, task, host, Some(ended), ending, seen)
    }
}

fn whole(
    survey: &Survey,
    task: &Task,
    host: &Host,
    ended: Option<&engine::Report>,
    (state, text): (State, Message),
    seen: BTreeMap<String, String>,
) -> Result<Report, StepError> {
    Ok(Report {
        version: VERSION,
        prep: task.prep(),
        state,
        text: text.recorded(),
        seen,
        requirements: requirements::all(&Facts { survey, task, ended }),
        at: host.clock.now(),
        boot_id: nodekit::boot_id(&*host.disk)?,
    })
}

/// How a run ended, in one sentence.
fn ending(survey: &Survey, task: &Task, ended: &engine::Report, seen: &BTreeMap<String, String>) -> (State, Message) {
    if let Some(failure) = reported_failure(&ended.failed) {
        let StepFailure { step, error } = failure;
        let is_incapable = INCAPABLE.contains(&error.code());
        let mut reported = error.diagnostic();
        if is_incapable {
            return (State::Incapable, Message::Error(reported));
        }
        reported.message = format!("step `{step}`: {}", reported.message);
        return (State::Failed, Message::Error(reported));
    }
    if !ended.is_complete() {
        let message = "the run was stopped before its end".to_owned();
        let hint = Some("run the same command again: it goes on from there".to_owned());
        return (State::Failed, Message::Text { message, hint });
    }
    let value = |name: &str| seen.get(name).map_or("", String::as_str);
    let (state, message) = match task.goal {
        Goal::Iscsi { .. } => {
            let (package, name) = (value("package"), value(Report::INITIATOR_NAME));
            (State::Ready, format!("iSCSI works: {package}, iscsid is active, this machine is {name}"))
        }
        Goal::Gpu { .. } if survey.has_gpu => {
            let (gpu, driver, found) = (value("gpu"), value("driver"), value("vainfo"));
            (State::Ready, format!("transcoding works: {gpu} by {driver}, {found}"))
        }
        Goal::Gpu { even_without_gpu: true, .. } => (
            State::NotApplicable,
            "no Intel GPU on this machine; the packages are installed, and there is nothing to transcode with"
                .to_owned(),
        ),
        Goal::Gpu { .. } => (State::NotApplicable, "no Intel GPU on this machine; nothing was installed".to_owned()),
    };
    (state, Message::text(message))
}

/// The one failure that a person should hear of first: what can be fixed comes before what cannot.
fn reported_failure(failed: &[StepFailure]) -> Option<&StepFailure> {
    failed.iter().find(|failure| !INCAPABLE.contains(&failure.error.code())).or(failed.first())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(failures: &[(&str, Code, &str)]) -> engine::Report {
        let failure = |(step, code, message): &(&str, Code, &str)| StepFailure {
            step: (*step).to_owned(),
            error: StepError::new(*code, *message),
        };
        engine::Report { failed: failures.iter().map(failure).collect(), ..engine::Report::default() }
    }

    #[test]
    fn how_runs_end() {
        let iscsi = Goal::Iscsi { with_nfs: false };
        let gpu = |even_without_gpu| Goal::Gpu { even_without_gpu, add_non_free: false };
        let none = ("iscsi-kernel", codes::KERNEL_WITHOUT_ISCSI, "kernel 6.18 has no iSCSI initiator");
        let away = ("packages", nodekit::codes::PACKAGES_UNREACHABLE, "cannot fetch open-iscsi");
        let seen: BTreeMap<String, String> = [
            ("package", "open-iscsi 2.1.8-1"),
            ("initiator-name", "iqn.1993-08.org.debian:01:9fe7844fb24f"),
            ("gpu", "8086:9a49 at 0000:00:02.0"),
            ("driver", "i915"),
            ("vainfo", "14 entrypoints"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        let mut reported = String::new();
        for (goal, has_gpu, ended) in [
            (iscsi.clone(), false, engine::Report::default()),
            (iscsi.clone(), false, failed(&[none])),
            (iscsi.clone(), false, failed(&[none, away])),
            (iscsi, false, engine::Report { cancelled: true, ..engine::Report::default() }),
            (gpu(false), true, engine::Report::default()),
            (gpu(false), false, engine::Report::default()),
            (gpu(true), false, engine::Report::default()),
            (
                gpu(false),
                true,
                failed(&[("gpu-proof", codes::NO_GPU_DRIVER, "there is an Intel GPU, and vfio-pci has it")]),
            ),
        ] {
            let survey = Survey { has_gpu, ..Survey::default() };
            let (state, text) = ending(&survey, &Task { packages: None, goal }, &ended, &seen);
            let code = text.error().map_or("-", |error| error.code.id);
            reported += &format!("{state} {code}: {}\n", text.message());
        }
        insta::assert_snapshot!(reported);
    }
}
