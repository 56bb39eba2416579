//! What a `DaemonSet` sets for its pods in their environment.

use std::time::Duration;

use operations::slots::Limit;

use crate::PodError;

/// How often a node is looked at again when nothing seems wrong with it.
const CHECK_INTERVAL: Duration = Duration::from_mins(10);
/// More often is of no use: a check is a whole run.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(10);

/// What a `DaemonSet` sets for its pods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settings {
    /// The Node this pod runs on.
    pub(super) node: String,
    /// Between two checks of a node that is fine, or never will be.
    pub(super) check_interval: Duration,
    /// How many nodes may be worked on at once.
    pub(super) limit: Limit,
}

impl Settings {
    /// From variables, which tests say otherwise than the environment. An empty one is as good as none.
    pub(super) fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, PodError> {
        let given = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let bad = |name: &'static str, value: &str, why: &'static str| {
            Err(PodError::BadSetting { name, value: value.to_owned(), why })
        };
        let Some(node) = given("NODE_NAME") else { return Err(PodError::NoNodeName) };
        let check_interval = match given("CHECK_INTERVAL") {
            None => CHECK_INTERVAL,
            Some(text) => match text.trim().parse().map(Duration::from_secs) {
                Ok(interval) if interval >= SHORTEST_INTERVAL => interval,
                _ => return bad("CHECK_INTERVAL", &text, "it should be a number of seconds, at least 10"),
            },
        };
        let limit = match given("MAX_CONCURRENT") {
            None => Limit::default(),
            Some(text) => match Limit::parse(text.trim()) {
                Some(limit) => limit,
                None => {
                    return bad("MAX_CONCURRENT", &text, "it should be a number from 1, or a percentage up to 100%");
                }
            },
        };
        Ok(Self { node, check_interval, limit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: &[(&str, &str)]) -> Result<Settings, String> {
        let find = |name: &str| given.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Settings::read(find).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_not_set_has_a_default_and_what_makes_no_sense_is_refused() {
        let by_default = read(&[("NODE_NAME", "w1"), ("CHECK_INTERVAL", "")]).unwrap();
        assert_eq!(
            by_default,
            Settings { node: "w1".into(), check_interval: CHECK_INTERVAL, limit: Limit::Percent(10) }
        );
        let reported = read(&[("NODE_NAME", "w1"), ("CHECK_INTERVAL", "60"), ("MAX_CONCURRENT", "3")]).unwrap();
        assert_eq!((reported.check_interval, reported.limit), (Duration::from_mins(1), Limit::Nodes(3)));

        assert_eq!(read(&[]), Err("the variable NODE_NAME is not set".into()));
        for (name, value) in [("CHECK_INTERVAL", "1"), ("CHECK_INTERVAL", "10m"), ("MAX_CONCURRENT", "none")] {
            let refused = read(&[("NODE_NAME", "w1"), (name, value)]).unwrap_err();
            assert!(refused.starts_with(&format!("the variable {name} is {value:?}: it should be")), "{refused}");
        }
    }
}
