//! A list of steps and the order between them.
//!
//! A step may only come after steps that stand above it in the list. So there are no cycles, and the list reads in the
//! order in which things happen.

use explain::{Code, Explain};

use crate::{About, Step, StepId, Undos, codes, step::AnyStep, undo::Permits};

/// A named list of steps.
pub struct Playbook {
    pub(crate) name: &'static str,
    pub(crate) steps: Vec<Entry>,
}

pub(crate) struct Entry {
    pub(crate) about: About,
    pub(crate) step: Box<dyn AnyStep>,
    /// Indices of the steps that must be verified first.
    pub(crate) after: Vec<usize>,
}

/// A list that makes no sense: a mistake of ours, found by the playbook's own test.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaybookError {
    /// Two steps have the same id.
    #[error("step `{0}` is listed twice")]
    Twice(StepId),
    /// A step comes after one that is not above it in the list.
    #[error("step `{step}` comes after `{after}`, which is not above it in the list")]
    UnknownOrder {
        /// The step.
        step: StepId,
        /// What it names.
        after: StepId,
    },
    /// A step does more than write files, and its playbook's undos do not name it with the undo that it declares.
    #[error("step `{0}` is not undone by what it says")]
    NotUndone(StepId),
}

impl Explain for PlaybookError {
    fn code(&self) -> Code {
        codes::PLAYBOOK
    }
}

impl Playbook {
    /// A list that these undo.
    pub fn undone_by(undos: &Undos) -> PlaybookBuilder<'_> {
        PlaybookBuilder::new(undos.playbook(), Some(undos))
    }

    /// A list of what is never undone by its ledger.
    pub fn never_undone(name: &'static str) -> PlaybookBuilder<'static> {
        PlaybookBuilder::new(name, None)
    }

    /// The playbook's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The steps' texts, in the order of the list.
    pub fn about(&self) -> impl Iterator<Item = &About> {
        self.steps.iter().map(|entry| &entry.about)
    }

    /// The same, each with the steps that must be verified first.
    pub fn order(&self) -> impl Iterator<Item = (&About, Vec<StepId>)> {
        self.steps.iter().map(|entry| {
            let before = entry.after.iter().map(|index| self.steps[*index].about.id);
            (&entry.about, before.collect())
        })
    }

    pub(crate) fn steps(&self) -> &[Entry] {
        &self.steps
    }
}

/// A [`Playbook`] that is being written down. The first mistake is returned by [`PlaybookBuilder::build`].
pub struct PlaybookBuilder<'a> {
    playbook: Playbook,
    undos: Option<&'a Undos>,
    left_out: Vec<StepId>,
    mistake: Option<PlaybookError>,
}

impl<'a> PlaybookBuilder<'a> {
    fn new(name: &'static str, undos: Option<&'a Undos>) -> Self {
        Self { playbook: Playbook { name, steps: Vec::new() }, undos, left_out: Vec::new(), mistake: None }
    }

    /// Adds a step that starts once all steps named in `after` are verified. Steps without an order between them run in
    /// parallel.
    #[must_use]
    pub fn step<S: Step>(mut self, step: S, after: &[StepId]) -> Self {
        if let Err(mistake) = self.add(step, after) {
            self.mistake.get_or_insert(mistake);
        }
        self
    }

    /// The same, if the node needs it. What comes after a step that is left out does not wait for it.
    #[must_use]
    pub fn step_if<S: Step>(mut self, is_needed: bool, step: S, after: &[StepId]) -> Self {
        if is_needed {
            return self.step(step, after);
        }
        self.left_out.push(step.about().id);
        self
    }

    /// The same, if there is one.
    #[must_use]
    pub fn step_some<S: Step>(self, step: Option<S>, after: &[StepId]) -> Self {
        match step {
            Some(step) => self.step(step, after),
            None => self,
        }
    }

    /// The list, unless it makes no sense.
    pub fn build(self) -> Result<Playbook, PlaybookError> {
        match self.mistake {
            Some(mistake) => Err(mistake),
            None => Ok(self.playbook),
        }
    }

    fn add<S: Step>(&mut self, step: S, after: &[StepId]) -> Result<(), PlaybookError> {
        let about = Step::about(&step);
        if self.undos.is_some_and(|undos| !S::Undo::is_in(undos, about.id)) {
            return Err(PlaybookError::NotUndone(about.id));
        }
        if self.position(about.id).is_some() {
            return Err(PlaybookError::Twice(about.id));
        }
        let find = |id: &StepId| {
            let unknown = PlaybookError::UnknownOrder { step: about.id, after: *id };
            self.position(*id).ok_or(unknown)
        };
        let after = after.iter().filter(|id| !self.left_out.contains(id)).map(find).collect::<Result<_, _>>()?;
        self.playbook.steps.push(Entry { about, step: Box::new(step), after });
        Ok(())
    }

    fn position(&self, id: StepId) -> Option<usize> {
        self.playbook.steps.iter().position(|entry| entry.about.id == id)
    }
}

#[cfg(test)]
mod tests {
    use host::Host;

    use super::*;
    use crate::{FilesOnly, Stays, StepError, Undo};

    const A: StepId = StepId::new("a");
    const B: StepId = StepId::new("b");
    const C: StepId = StepId::new("c");

    struct Named<U>(StepId, std::marker::PhantomData<U>);

    impl<U: Permits + Send + Sync> Step for Named<U> {
        type Seen = ();
        type Undo = U;

        fn about(&self) -> About {
            About::new(self.0, "", "")
        }

        async fn observe(&self, _host: &Host) -> Result<(), StepError> {
            Ok(())
        }
    }

    fn files(id: StepId) -> Named<FilesOnly> {
        Named(id, std::marker::PhantomData)
    }

    fn acts(id: StepId) -> Named<Stays> {
        Named(id, std::marker::PhantomData)
    }

    /// Undone in another way than `Stays`.
    struct Otherwise;

    impl Undo for Otherwise {
        async fn act(&self, _key: &str, _host: &Host) -> Result<(), StepError> {
            Ok(())
        }
    }

    #[test]
    fn a_list_that_makes_no_sense_is_refused() {
        use PlaybookError::{NotUndone, Twice, UnknownOrder};
        let undos = Undos::new("test").step(A, Stays).step(B, Otherwise);
        let list = || Playbook::undone_by(&undos);
        for (list, mistake) in [
            (list().step(files(A), &[]), None),
            (list().step(files(A), &[]).step(files(A), &[]), Some(Twice(A))),
            (list().step(files(A), &[A]), Some(UnknownOrder { step: A, after: A })),
            (list().step(files(A), &[]).step(files(B), &[A, C]), Some(UnknownOrder { step: B, after: C })),
            (list().step_if(false, files(A), &[]).step(files(B), &[A]), None),
            (list().step_if(true, files(A), &[]).step(files(B), &[A]), None),
            (list().step(acts(A), &[]), None),
            (list().step(acts(B), &[]), Some(NotUndone(B))),
            (list().step(acts(C), &[]), Some(NotUndone(C))),
            (Playbook::never_undone("test").step(acts(C), &[]), None),
        ] {
            assert_eq!(list.build().err(), mistake);
        }
    }

    #[test]
    fn who_comes_after_a_step_that_is_left_out_does_not_wait_for_it() {
        let list = Playbook::never_undone("test").step(files(A), &[]).step_if(false, files(B), &[A]);
        let list = list.step(files(C), &[A, B]).build().unwrap();
        assert_eq!(list.steps().iter().map(|entry| entry.after.clone()).collect::<Vec<_>>(), [vec![], vec![0]]);
    }
}
