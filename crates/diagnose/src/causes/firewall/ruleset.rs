//! The packet filter's rules as `nft -j list ruleset` shows them, and what becomes of a packet in them.
//!
//! A condition is true, false, or not known. A rule that drops counts only if all its conditions are true; one that accepts
//! counts also if some are not known: no rule is blamed on a suspicion.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use super::packet::{Packet, Truth};
use crate::Inconclusive;

/// Chains that call each other without end are the kernel's to refuse; this is only for safety.
const DEEPEST: u8 = 16;

/// Every chain with its rules.
pub(super) struct Ruleset {
    chains: Vec<Chain>,
}

#[derive(Debug, Deserialize)]
struct Chain {
    family: String,
    table: String,
    name: String,
    hook: Option<String>,
    prio: Option<Value>,
    policy: Option<String>,
    #[serde(skip)]
    rules: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
struct Rule {
    family: String,
    table: String,
    chain: String,
    handle: u64,
    #[serde(default)]
    expr: Vec<Value>,
}

/// Where a packet ends.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DropPoint {
    pub(super) family: String,
    pub(super) table: String,
    pub(super) chain: String,
    /// The rule; `None` where no rule was left and the chain drops what it has no rule for.
    pub(super) rule: Option<u64>,
}

impl fmt::Display for DropPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { family, table, chain, .. } = self;
        write!(f, "chain `{chain}` of table `{family} {table}`")
    }
}

/// What becomes of a packet in a chain.
enum Fate {
    Accepted,
    Dropped(DropPoint),
    /// Nothing was decided.
    Left,
}

impl Ruleset {
    pub(super) fn parse(shown: &str) -> Result<Self, Inconclusive> {
        let garbled = |error: serde_json::Error| Inconclusive(format!("`nft -j list ruleset`: {error}"));
        let mut document: Value = serde_json::from_str(shown).map_err(garbled)?;
        let (mut chains, mut rules) = (Vec::<Chain>::new(), Vec::<Rule>::new());
        for object in document["nftables"].as_array_mut().into_iter().flatten() {
            if let Some(chain) = object.get_mut("chain") {
                chains.push(serde_json::from_value(chain.take()).map_err(garbled)?);
            } else if let Some(rule) = object.get_mut("rule") {
                rules.push(serde_json::from_value(rule.take()).map_err(garbled)?);
            }
        }
        for rule in rules {
            let owner = |chain: &&mut Chain| {
                (&chain.family, &chain.table, &chain.name) == (&rule.family, &rule.table, &rule.chain)
            };
            if let Some(chain) = chains.iter_mut().find(owner) {
                chain.rules.push(rule);
            }
        }
        chains.sort_by_key(|chain| chain.prio.as_ref().and_then(Value::as_i64).unwrap_or(0));
        Ok(Self { chains })
    }

    /// Where a packet is dropped on its way through these hooks; `None` if it gets through as far as can be known.
    pub(super) fn drops(&self, hooks: &[&str], packet: &Packet<'_>) -> Option<DropPoint> {
        hooks.iter().find_map(|hook| {
            let hooked = self.chains.iter().filter(|chain| chain.hook.as_deref() == Some(hook));
            hooked.filter(|chain| packet.passes(&chain.family) && !is_ours(&chain.table)).find_map(|chain| {
                match self.walk(chain, packet, 0) {
                    Fate::Dropped(point) => Some(point),
                    Fate::Left if chain.policy.as_deref() == Some("drop") => Some(chain.drop_point(None)),
                    Fate::Accepted | Fate::Left => None,
                }
            })
        })
    }

    fn walk(&self, chain: &Chain, packet: &Packet<'_>, depth: u8) -> Fate {
        for rule in &chain.rules {
            let mut certain = true;
            for expression in &rule.expr {
                let Some((word, detail)) = expression.as_object().and_then(|object| object.iter().next()) else {
                    continue;
                };
                match word.as_str() {
                    "match" => match packet.fits(detail) {
                        Truth::Yes => {}
                        Truth::No => break,
                        Truth::Unknown => certain = false,
                    },
                    "drop" | "reject" if certain => return Fate::Dropped(chain.drop_point(Some(rule.handle))),
                    // Sent to another place or handed to a program, the packet is not lost here either.
                    "accept" | "dnat" | "redirect" | "queue" | "tproxy" => return Fate::Accepted,
                    "return" if certain => return Fate::Left,
                    "jump" | "goto" if depth < DEEPEST => {
                        let target = detail["target"].as_str().unwrap_or_default();
                        let called = self.chains.iter().find(|other| {
                            (&other.family, &other.table, other.name.as_str()) == (&chain.family, &chain.table, target)
                        });
                        match called.map(|called| self.walk(called, packet, depth + 1)) {
                            Some(Fate::Accepted) => return Fate::Accepted,
                            Some(Fate::Dropped(point)) if certain => return Fate::Dropped(point),
                            _ if word == "goto" && certain => return Fate::Left,
                            _ => {}
                        }
                    }
                    "counter" | "log" | "mangle" | "notrack" | "masquerade" | "snat" => {}
                    "xt" if detail["name"] == "comment" => {}
                    // Limits, maps, matches of iptables: it may or may not go on here.
                    _ => certain = false,
                }
            }
        }
        Fate::Left
    }
}

impl Chain {
    fn drop_point(&self, rule: Option<u64>) -> DropPoint {
        DropPoint { family: self.family.clone(), table: self.table.clone(), chain: self.name.clone(), rule }
    }
}

/// Tables of the node's own services.
fn is_ours(table: &str) -> bool {
    table.starts_with("kube-proxy") || table.starts_with("blackstart")
}
