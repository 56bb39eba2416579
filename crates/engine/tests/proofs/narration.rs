//! A long change says what it is doing, in order, before its end.

use engine::{About, Act, Event, Planned, Playbook, State, Stays, Step, StepError, StepId};
use host::{Host, disk::model::ModelDisk};

use crate::support::runner_on;

struct Talker;

impl Step for Talker {
    type Seen = bool;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(StepId::new("talker"), "Talk", "long changes are watched")
    }

    async fn observe(&self, host: &Host) -> Result<bool, StepError> {
        Ok(host.disk.exists("/done".as_ref())?)
    }

    fn plan(&self, output: &bool) -> Result<Vec<Planned>, StepError> {
        Ok(if *output { Vec::new() } else { vec![Planned::act("talk", "talk")] })
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        host.doing("one");
        tokio::task::yield_now().await;
        host.doing("two");
        Ok(host::write_atomic(&*host.disk, "/done".as_ref(), b"", 0o600)?)
    }
}

#[tokio::test]
async fn what_a_change_says_is_emitted_as_applying() {
    let (runner, recorder) = runner_on(&ModelDisk::default());
    let playbook = Playbook::never_undone("talk").step(Talker, &[]).build().unwrap();
    assert!(runner.run(&playbook).await.unwrap().is_complete());
    let events = recorder.take();
    let output: Vec<&str> = events.iter().filter(|event| event.state == State::Applying).map(Event::message).collect();
    assert_eq!(output, ["talk", "one", "two"]);
}
