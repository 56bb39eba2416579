//! Who remembers what was granted and what was revoked, see [`crate::Admissions`].

use std::pin::Pin;

use super::Service;
use crate::{Admission, Generation, Refusal};

/// Kept, or why nothing was granted.
pub type Kept<'a> = Pin<Box<dyn Future<Output = Result<(), Refusal>> + Send + 'a>>;

/// What is to be remembered of a node from now on, or why it is refused. It may be asked more than once.
pub type Evaluate<'a> = Box<dyn Fn(Admission) -> Result<Admission, Refusal> + Send + Sync + 'a>;

/// Remembers admissions.
pub trait Records: Send + Sync {
    /// What this master knows of a node at this moment. What others have written may be a few seconds younger.
    fn known(&self, node: &str) -> Admission;

    /// Lets `evaluate` decide on all that can be known now, and is done when what it says is kept: where the API answers no
    /// two masters decide on the same state, and it is on this master's disk in any case.
    fn decide<'a>(&'a self, node: &'a str, evaluate: Evaluate<'a>) -> Kept<'a>;
}

/// Remembers that a node was let in with a secret of this generation; a token has none, and changes nothing.
pub(super) async fn let_in(service: &Service, node: &str, generation: Option<Generation>) -> Result<(), Refusal> {
    let Some(generation) = generation else { return Ok(()) };
    let evaluate = move |admission: Admission| {
        admission.check(node, generation)?;
        Ok(admission.let_in(generation))
    };
    service.setup.records.decide(node, Box::new(evaluate)).await
}
