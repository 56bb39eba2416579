//! Some steps of a list instead of all: one alone, or all but some.
//!
//! Neither may break the order. A step that runs alone relies on what was verified before it, and one that is left out must
//! not be relied on.

use explain::{Code, Explain, did_you_mean};

use crate::{Ledger, Playbook, StepId, codes, playbook::Entry};

/// A choice that the order does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// The list has no such step.
    #[error("there is no step `{name}`")]
    Unknown {
        /// What was given.
        name: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// Another step relies on it.
    #[error("step `{step}` cannot be left out: `{needed_by}` comes after it")]
    Needed {
        /// The step.
        step: StepId,
        /// The other one.
        needed_by: StepId,
    },
    /// It relies on a step that was never verified on this machine.
    #[error("step `{step}` cannot run alone: `{first}` comes before it, and was never verified on this machine")]
    TooEarly {
        /// The step.
        step: StepId,
        /// The other one.
        first: StepId,
    },
}

impl Explain for ChoiceError {
    fn code(&self) -> Code {
        codes::CHOICE
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { nearest, .. } => nearest.as_ref().map(|nearest| format!("did you mean `{nearest}`?")),
            Self::Needed { needed_by, .. } => Some(format!("leave out `{needed_by}` as well, or neither")),
            Self::TooEarly { first, .. } => Some(format!("run `{first}` first, or all steps")),
        }
    }
}

impl Playbook {
    /// Only the steps of these names. What comes before them must be verified, as the ledger says.
    pub fn only(self, names: &[String], ledger: &Ledger) -> Result<Self, ChoiceError> {
        let chosen = self.chosen(names)?;
        for (index, entry) in self.steps().iter().enumerate().filter(|(index, _)| chosen[*index]) {
            let is_missing = |before: &&usize| {
                !chosen[**before] && !ledger.is_verified(&Ledger::key(self.name(), self.id(**before).as_str()))
            };
            if let Some(first) = entry.after.iter().find(is_missing) {
                return Err(ChoiceError::TooEarly { step: self.id(index), first: self.id(*first) });
            }
        }
        Ok(self.keep(&chosen))
    }

    /// All but the steps of these names, which no other step may come after.
    pub fn without(self, names: &[String]) -> Result<Self, ChoiceError> {
        let left_out = self.chosen(names)?;
        for entry in self.steps().iter().filter(|entry| !names.iter().any(|name| entry.about.id.as_str() == name)) {
            if let Some(step) = entry.after.iter().find(|before| left_out[**before]) {
                return Err(ChoiceError::Needed { step: self.id(*step), needed_by: entry.about.id });
            }
        }
        Ok(self.keep(&left_out.iter().map(|is_left_out| !is_left_out).collect::<Vec<_>>()))
    }

    /// Which steps have one of these names.
    fn chosen(&self, names: &[String]) -> Result<Vec<bool>, ChoiceError> {
        let ids: Vec<&str> = self.about().map(|about| about.id.as_str()).collect();
        if let Some(name) = names.iter().find(|name| !ids.contains(&name.as_str())) {
            let nearest = did_you_mean(name, ids).map(str::to_owned);
            return Err(ChoiceError::Unknown { name: name.clone(), nearest });
        }
        Ok(ids.iter().map(|id| names.iter().any(|name| name == id)).collect())
    }

    fn id(&self, index: usize) -> StepId {
        self.steps()[index].about.id
    }

    fn keep(self, is_kept: &[bool]) -> Self {
        // Where a step stands that is kept: one position up for each step above it that goes.
        let position = |index: usize| is_kept[..index].iter().filter(|is_kept| **is_kept).count();
        let kept = self.steps.into_iter().zip(is_kept).filter(|(_, is_kept)| **is_kept);
        let placed = kept.map(|(entry, _)| {
            let after = entry.after.iter().filter(|before| is_kept[**before]).map(|before| position(*before));
            Entry { after: after.collect(), ..entry }
        });
        Self { steps: placed.collect(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use host::Host;

    use super::*;
    use crate::{About, FilesOnly, Step, StepError};

    struct Named(StepId);

    impl Step for Named {
        type Seen = ();
        type Undo = FilesOnly;

        fn about(&self) -> About {
            About::new(self.0, "", "")
        }

        async fn observe(&self, _host: &Host) -> Result<(), StepError> {
            Ok(())
        }
    }

    /// Each step that is left, with the steps it comes after, or why not.
    fn shown(choice: Result<Playbook, ChoiceError>) -> String {
        let list = match choice {
            Ok(list) => list,
            Err(error) => return format!("{error}; {}", error.hint().unwrap_or_default()),
        };
        let before = |entry: &Entry| entry.after.iter().map(|index| list.id(*index).as_str()).collect::<Vec<_>>();
        let steps = list.steps().iter().map(|entry| format!("{}{:?}", entry.about.id, before(entry)));
        steps.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_choice_keeps_the_order_or_is_refused() {
        let [identity, units, kubelet, ready] = ["identity", "units", "kubelet", "ready"].map(StepId::new);
        let list = || {
            Playbook::never_undone("test")
                .step(Named(identity), &[])
                .step(Named(units), &[identity])
                .step(Named(kubelet), &[units])
                .step(Named(ready), &[identity, kubelet])
                .build()
                .unwrap()
        };
        let mut ledger = Ledger::default();
        ledger.verify("test/identity", "2026-11-17T12:00:00Z".parse().unwrap());
        let names = |names: &str| names.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let only = |chosen: &str| shown(list().only(&names(chosen), &ledger));
        let without = |chosen: &str| shown(list().without(&names(chosen)));
        for (choice, expected) in [
            (only("identity"), "identity[]"),
            (only("units"), "units[]"),
            (only("kubelet units"), r#"units[] kubelet["units"]"#),
            (
                only("kubelet"),
                "step `kubelet` cannot run alone: `units` comes before it, and was never verified on this machine; \
                 run `units` first, or all steps",
            ),
            (only("kublet"), "there is no step `kublet`; did you mean `kubelet`?"),
            (without("ready"), r#"identity[] units["identity"] kubelet["units"]"#),
            (without("ready kubelet"), r#"identity[] units["identity"]"#),
            (
                without("units"),
                "step `units` cannot be left out: `kubelet` comes after it; leave out `kubelet` as well, or neither",
            ),
        ] {
            assert_eq!(choice, expected);
        }
    }
}
