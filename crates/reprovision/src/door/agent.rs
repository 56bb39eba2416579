//! The door of a node whose own agent opens it, because no pod does.
//!
//! The order says so. So a cluster whose nodes are opened by pods is left to these; where both act, both put the same in place
//! and start the same unit, which does no harm.

use std::path::Path;

use host::{Cmd, Host};
use kubeapi::k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{DoorError, observed::Observed, open::Opener};

/// This program, also where its file was replaced since it was started.
const PROGRAM: &str = "/proc/self/exe";

/// The door as the node's agent opens it.
pub struct OfAgent {
    node: String,
    host: Host,
    /// Of one run: program and units are looked at anew for the next.
    open: Option<(String, Opener)>,
}

impl OfAgent {
    /// Of this node.
    pub fn new(node: &str, host: &Host) -> Self {
        Self { node: node.to_owned(), host: host.clone(), open: None }
    }

    /// Opens it if the node's own Node asks for that, and says whether it does.
    pub async fn observe(&mut self, node: &ObjectMeta) -> Result<bool, DoorError> {
        let observed = Observed::of(node);
        let Some(run) = observed.asks_agent() else {
            self.open = None;
            return Ok(false);
        };
        let (_, opener) = match self.open.take() {
            Some(open) if open.0 == run => self.open.insert(open),
            _ => {
                let opener = Opener::new(&self.node, self.host.clone(), || Cmd::new("systemctl"), Path::new(PROGRAM));
                self.open.insert((run.to_owned(), opener))
            }
        };
        opener.put().await?;
        opener.start().await?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        sync::{Arc, Mutex},
    };

    use host::{Commands, Printed, Running};
    use serde_json::{Value, json};
    use upgrades::names;

    use super::*;
    use crate::paths;

    /// systemd, which knows whether the unit runs.
    #[derive(Default)]
    struct Systemd {
        runs: Mutex<bool>,
        printed: Mutex<Vec<String>>,
    }

    impl Commands for Systemd {
        fn run<'a>(&'a self, command: &'a Cmd) -> Running<'a> {
            Box::pin(async move {
                let command = command.to_string();
                let mut runs = self.runs.lock().unwrap();
                if command.contains("list-units") {
                    let state = if *runs { "active" } else { "inactive" };
                    return Ok(Printed { stdout: format!("unit loaded {state} running x\n"), stderr: String::new() });
                }
                *runs |= command.starts_with("systemctl start");
                self.printed.lock().unwrap().push(command);
                Ok(Printed { stdout: String::new(), stderr: String::new() })
            })
        }
    }

    impl Systemd {
        fn printed(&self) -> Vec<String> {
            std::mem::take(&mut self.printed.lock().unwrap())
        }
    }

    fn node(order: Option<(&str, bool)>, report: Option<(&str, &str)>) -> ObjectMeta {
        let mut annotations: Vec<(&str, Value)> = Vec::new();
        annotations.extend(order.map(|(run, by_agent)| {
            let order = json!({ "version": 1, "run": run, "command": "check", "driver": "rhel", "secret": "s",
                                "applySeconds": 1, "confirmSeconds": 1, "byAgent": by_agent });
            (names::ORDER_ANNOTATION, order)
        }));
        annotations.extend(report.map(|(run, state)| {
            let report = json!({ "version": 1, "run": run, "state": state, "message": "m", "bootId": "b",
                                 "at": "2026-01-01T00:00:00Z" });
            (names::REPORT_ANNOTATION, report)
        }));
        let annotations = annotations.into_iter().map(|(key, value)| (key.to_owned(), value.to_string()));
        ObjectMeta { annotations: Some(annotations.collect()), ..ObjectMeta::default() }
    }

    #[tokio::test]
    async fn it_is_opened_for_orders_that_say_so_until_they_are_carried_out() {
        let dir = tempfile::tempdir().unwrap();
        let systemd = Arc::new(Systemd::default());
        let host = Host { commands: Arc::clone(&systemd) as Arc<dyn Commands>, ..Host::rooted(dir.path()) };
        let mut door = OfAgent::new("worker-01", &host);
        let program = dir.path().join(paths::PROGRAM.trim_start_matches('/'));
        for (case, node) in [
            ("no order", node(None, None)),
            ("a pod opens it", node(Some(("r", false)), None)),
            ("done", node(Some(("r", true)), Some(("r", "done")))),
        ] {
            assert!(!door.observe(&node).await.unwrap(), "{case}");
            assert!(systemd.printed().is_empty() && !program.exists(), "{case}");
        }
        assert!(door.observe(&node(Some(("r", true)), Some(("q", "done")))).await.unwrap());
        let units = format!("{} {}", paths::UNIT, paths::BOOT_UNIT);
        let begun = [
            "systemctl daemon-reload".to_owned(),
            format!("systemctl enable --quiet {units}"),
            format!("systemctl start {}", paths::UNIT),
        ];
        assert_eq!(systemd.printed(), begun);
        assert_eq!(fs::metadata(&program).unwrap().len(), fs::metadata(PROGRAM).unwrap().len());
        assert!(door.observe(&node(Some(("r", true)), Some(("r", "checking")))).await.unwrap());
        assert!(systemd.printed().is_empty(), "it runs");
        *systemd.runs.lock().unwrap() = false;
        assert!(door.observe(&node(Some(("r", true)), Some(("r", "armed")))).await.unwrap());
        assert_eq!(systemd.printed(), begun[1..]);
    }
}
