//! Files whose content another machine has: planned by their names, written by the engine, and none but these.

use engine::{About, Act, LedgerStore, Planned, Playbook, Stays, Step, StepError, StepId, UndoEntry, codes};
use host::{Change, Content, Disk, Host, disk::model::ModelDisk};

use crate::support::{STATE_DIR, lists::failed, runner_on};

/// Gets these files, and plans those; and claims what it does not make.
struct Fetcher {
    planned: &'static [&'static str],
    answered: &'static [&'static str],
}

impl Step for Fetcher {
    type Seen = bool;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(StepId::new("fetcher"), "Fetch", "what others have is needed here")
    }

    async fn observe(&self, host: &Host) -> Result<bool, StepError> {
        Ok(host.disk.exists(self.planned[0].as_ref())?)
    }

    fn plan(&self, is_there: &bool) -> Result<Vec<Planned>, StepError> {
        let files = self.planned.iter().map(Into::into).collect();
        let changes = vec![Planned::claim("log", "claim /log"), Planned::fetch("ask", "ask the moon", files)];
        Ok(if *is_there { Vec::new() } else { changes })
    }

    async fn fetch(&self, _act: &Act, _host: &Host) -> Result<Vec<Change>, StepError> {
        let file = |path: &&str| {
            let content = Content::Plain(b"answer".to_vec());
            Change::File { path: path.into(), mode: 0o600, content }
        };
        let dir = Change::Directory { path: "/etc".into(), mode: 0o700 };
        Ok([dir].into_iter().chain(self.answered.iter().map(file)).collect())
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_fetched_is_planned_by_name_and_nothing_else_is_written() {
    const NAMED: &[&str] = &["/etc/key", "/etc/certificate"];
    for (answered, outcome) in [
        (NAMED, None),
        (&NAMED[..1], None),
        (&["/etc/key", "/etc/passwd"], Some("`ask` would write /etc/passwd, which its plan does not name")),
    ] {
        let disk = ModelDisk::default();
        let (runner, _) = runner_on(&disk);
        let step = Fetcher { planned: NAMED, answered };
        let playbook = Playbook::never_undone("test").step(step, &[]).build().unwrap();
        let plan = runner.plan(&playbook).await;
        let lines: Vec<String> = plan[0].changes.as_ref().unwrap().iter().flat_map(Planned::lines).collect();
        assert_eq!(lines[..2], ["claim /log", "ask the moon"]);
        assert_eq!(
            lines[2..],
            NAMED.iter().map(|path| format!("write {path} (with what was answered)")).collect::<Vec<_>>()
        );

        let report = runner.run(&playbook).await.unwrap();
        let refusal = report.failed.first().map(|failure| failure.error.to_string());
        assert_eq!(refusal.as_deref(), outcome);
        for path in answered {
            assert_eq!(disk.exists(path.as_ref()).unwrap(), outcome.is_none(), "{path}");
        }
        if outcome.is_some() {
            assert_eq!(failed(&report), [("fetcher", codes::NOT_PLANNED.id)]);
        }
        let undo = LedgerStore::new(STATE_DIR).open(&disk).unwrap().ledger.steps["test/fetcher"].undo.clone();
        assert_eq!(undo, ["log", "ask"].map(|key| UndoEntry::Act { key: key.into() }));
    }
}
