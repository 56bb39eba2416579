//! What happens to a machine that asks to join and is not in the list of nodes.

use explain::Diagnostic;
use schemars::{Schema, json_schema};

use super::{Value, choose};
use crate::{cluster::UnlistedNodes, codes};

const CHOICES: &[(&str, UnlistedNodes)] = &[("deny", UnlistedNodes::Deny), ("allow", UnlistedNodes::Allow)];

impl Value for UnlistedNodes {
    const EXPECTED: &'static str = "a rule for unlisted nodes";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        choose(codes::UNKNOWN_CHOICE, Self::EXPECTED, text, CHOICES)
    }

    fn schema() -> Schema {
        let names: Vec<&str> = CHOICES.iter().map(|(name, _)| *name).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}
