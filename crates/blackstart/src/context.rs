//! What most commands need first: the checked cluster, and which of its nodes this machine is.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::{Playbook, Report, Runner, Sink, StepFailure, StepPlan};
use host::{Facts, Host};
use nodekit::{Layout, identity};
use serde_json::json;
use spec::{Node, ValidatedCluster};
use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::{Exit, Failure, Output, cli::Global, codes, output, progress};

/// The machine, the configuration, and how to print.
pub(crate) struct Context {
    pub(crate) out: Output,
    pub(crate) host: Host,
    pub(crate) layout: Layout,
    root: PathBuf,
    config_dir: PathBuf,
}

impl Context {
    pub(crate) fn new(global: &Global) -> Self {
        let host = Host::rooted(&global.root);
        #[cfg(debug_assertions)]
        let host = Host { clock: fault::clock(host.clock.clone(), output::note), ..host };
        Self {
            out: Output::new(global),
            host,
            layout: Layout { config_dir: config_dir_on_machine(global), ..Layout::default() },
            root: global.root.clone(),
            config_dir: global.config_dir.clone(),
        }
    }

    /// The directory a command reads its configuration from: the one given, else the machine's own.
    pub(crate) fn config_source(&self, dir: Option<&Path>) -> PathBuf {
        dir.map_or_else(|| self.real_path(&self.config_dir), Path::to_path_buf)
    }

    /// Where a path of the machine is for the user of this command; a relative one is the user's already.
    pub(crate) fn real_path(&self, path: &Path) -> PathBuf {
        path.strip_prefix("/").map_or_else(|_| path.to_path_buf(), |below| self.root.join(below))
    }

    /// The cluster, if its description has no errors; else all problems are printed and the command ends.
    pub(crate) fn cluster(&self, dir: Option<&Path>) -> Result<Arc<ValidatedCluster>, Ended> {
        let checked = spec::check_dir(&self.config_source(dir));
        let Some(cluster) = checked.cluster else {
            output::note(&if self.out.is_json() {
                format!("{}\n", json!({ "valid": false, "problems": checked.problems }))
            } else {
                spec::report(&checked.problems, self.out.color_errors())
            });
            return Err(Ended::Reported(Exit::Failed));
        };
        Ok(Arc::new(cluster))
    }

    /// The node this machine is: by the given name, by an earlier `node detect`, or by its hardware.
    pub(crate) fn node<'a>(&self, cluster: &'a ValidatedCluster, name: Option<&str>) -> Result<&'a Node, Failure> {
        if let Some(name) = name {
            return Ok(identity::by_name(cluster, name)?);
        }
        let noted = self.host.disk.read_optional(&self.layout.config_dir.join("node-identity"))?;
        match noted {
            Some(noted) => Ok(identity::by_name(cluster, String::from_utf8_lossy(&noted).trim())?),
            None => Ok(identity::by_hardware(cluster, &Facts::read(&*self.host.disk)?)?),
        }
    }

    /// Runs a playbook with progress shown, stopping between changes at Ctrl-C or SIGTERM.
    pub(crate) fn run(&self, node: &Node, playbook: &Playbook) -> Result<Report, Ended> {
        self.run_in(&self.layout.state_dir, &node.name, playbook)
    }

    /// The same for something that is no node of a cluster.
    pub(crate) fn run_in(&self, state_dir: &Path, name: &str, playbook: &Playbook) -> Result<Report, Ended> {
        self.run_reporting(state_dir, name, playbook, Vec::new())
    }

    /// The same, with more sinks.
    pub(crate) fn run_reporting(
        &self,
        state_dir: &Path,
        name: &str,
        playbook: &Playbook,
        others: Vec<Arc<dyn Sink>>,
    ) -> Result<Report, Ended> {
        let report = self.run_to_its_end(state_dir, name, playbook, others)?;
        self.report_failures(&report)?;
        Ok(report)
    }

    /// Runs a playbook and says nothing of how it ended.
    pub(crate) fn run_to_its_end(
        &self,
        state_dir: &Path,
        name: &str,
        playbook: &Playbook,
        others: Vec<Arc<dyn Sink>>,
    ) -> Result<Report, Failure> {
        let mut runner = Runner::new(self.host.clone(), state_dir, name);
        runner.sinks.push(progress::sink(self.out));
        runner.sinks.extend(others);
        #[cfg(debug_assertions)]
        fault::install(&mut runner, output::note);
        let report = block_on(async {
            let signals = cancel_on_signal(runner.cancel.clone());
            let report = runner.run(playbook).await;
            signals.abort();
            report
        });
        Ok(report??)
    }

    /// Prints why a run did not do all it should, if it did not.
    pub(crate) fn report_failures(&self, report: &Report) -> Result<(), Ended> {
        if report.is_complete() {
            return Ok(());
        }
        for StepFailure { step, error } in &report.failed {
            self.out.failure(&Failure::in_step(step, error));
        }
        Err(Ended::Reported(if report.cancelled { Exit::Interrupted } else { Exit::Failed }))
    }

    /// Looks at the machine and says what a run would do.
    pub(crate) fn plan(&self, node: &Node, playbook: &Playbook) -> Result<Vec<StepPlan>, Ended> {
        let runner = Runner::new(self.host.clone(), &self.layout.state_dir, &node.name);
        Ok(block_on(runner.plan(playbook))?)
    }
}

/// Where the machine keeps its configuration. A relative directory is one of the caller's: on this machine it has an
/// absolute path, and the ledger must not hold another; for an image or a trial it is only a source.
fn config_dir_on_machine(Global { config_dir, root, .. }: &Global) -> PathBuf {
    if config_dir.is_absolute() {
        config_dir.clone()
    } else if root == Path::new("/") {
        // Without a current directory nothing relative can be read either, and reading it says so.
        std::path::absolute(config_dir).unwrap_or_else(|_| config_dir.clone())
    } else {
        Layout::default().config_dir
    }
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(codes::NO_RUNTIME, format!("cannot start: {error}")))?;
    Ok(runtime.block_on(work))
}

/// The same for work that may be left in the middle: at Ctrl-C or SIGTERM it is dropped, and undoes what it has begun.
pub(crate) fn block_on_until_signal<T>(work: impl Future<Output = Result<T, Ended>>) -> Result<T, Ended> {
    block_on(async {
        let handlers = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
        let (Ok(mut interrupt), Ok(mut terminate)) = handlers else { return work.await };
        let stopped = async {
            tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
        };
        tokio::select! {
            biased;
            () = stopped => {
                output::note("stopped; what was begun is removed\n");
                Err(Ended::Reported(Exit::Interrupted))
            }
            done = work => done,
        }
    })?
}

/// The first signal stops the run between two changes; a second one ends the program where it is.
pub(crate) fn cancel_on_signal(cancel: CancellationToken) -> JoinHandle<()> {
    // Not in the task: its first turn may come after the first change.
    let handlers = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    tokio::spawn(async move {
        let (Ok(mut interrupt), Ok(mut terminate)) = handlers else {
            return; // without handlers the signals end the program at once, which is safe too
        };
        loop {
            tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
            if cancel.is_cancelled() {
                std::process::exit(Exit::Interrupted.code().into());
            }
            output::note("stopping after the change that is being made; once more ends it at once\n");
            cancel.cancel();
        }
    })
}

/// How a command ends before its own end: with an error still to be printed, or with everything printed.
#[derive(Debug)]
pub(crate) enum Ended {
    Failure(Box<Failure>),
    Reported(Exit),
}

impl<E: Into<Failure>> From<E> for Ended {
    fn from(error: E) -> Self {
        Self::Failure(Box::new(error.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::{future::pending, process::Command};

    use clap::Parser;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn work_that_is_interrupted_takes_back_what_it_has_begun() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["INT", "TERM"] {
            let ended = block_on_until_signal::<()>(async {
                let _begun = backup::FreshFile::create(&dir.path().join("x.age"))?;
                assert_eq!(dir.path().read_dir().unwrap().count(), 1);
                let this = std::process::id().to_string();
                assert!(Command::new("kill").args([&format!("-{name}"), &this]).status().unwrap().success());
                pending().await
            });
            assert!(matches!(ended, Err(Ended::Reported(Exit::Interrupted))), "{name}: {ended:?}");
            assert_eq!(dir.path().read_dir().unwrap().count(), 0, "{name}");
        }
        assert!(matches!(block_on_until_signal(async { Ok(7) }), Ok(7)));
    }

    #[test]
    fn the_machine_knows_its_configuration_by_an_absolute_path() {
        let here = std::env::current_dir().unwrap();
        for (options, on_machine, source) in [
            ("", "/etc/cluster-config".into(), "/etc/cluster-config".into()),
            ("--config-dir /srv/c", "/srv/c".into(), "/srv/c".into()),
            ("--config-dir home", here.join("home"), "home".into()),
            ("--config-dir .", here.clone(), ".".into()),
            ("--root /img", "/etc/cluster-config".into(), PathBuf::from("/img/etc/cluster-config")),
            ("--root /img --config-dir /srv/c", "/srv/c".into(), "/img/srv/c".into()),
            ("--root /img --config-dir home", "/etc/cluster-config".into(), "home".into()),
        ] {
            let words = ["blackstart", "check"].into_iter().chain(options.split_whitespace());
            let context = Context::new(&Cli::parse_from(words).global);
            assert_eq!((&context.layout.config_dir, context.config_source(None)), (&on_machine, source), "{options}");
        }
    }
}
