//! What a node is to do: an annotation of its Node, written by the controller, read by the node with its kubelet's credential.

use serde::{Deserialize, Serialize};

use crate::Driver;

/// Of this format.
pub(crate) const FORMAT: u32 = 1;

/// What a node is to do now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// Of this format: 1.
    pub version: u32,
    /// For which run: uid of the `NodeUpgrade`, its generation, the attempt.
    pub run: String,
    /// What to do.
    pub command: Command,
    /// By which driver.
    pub driver: Driver,
    /// The Secret in our namespace.
    pub secret: String,
    /// How long the work may take without any progress.
    pub apply_seconds: u64,
    /// For how long the node waits to be confirmed.
    pub confirm_seconds: u64,
    /// Whether it goes back by itself where it fails or is not confirmed; else it stays as it is, for a person to inspect. An
    /// order without a word of it is of a controller that knew no other way.
    #[serde(default = "yes")]
    pub goes_back: bool,
    /// No pod brings program and units: the node's agent does. Of no interest to the node's program itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_agent: bool,
}

const fn yes() -> bool {
    true
}

impl Order {
    /// From the annotation; none of an order that this version does not know.
    pub fn read(annotation: &str) -> Option<Self> {
        serde_json::from_str(annotation).ok().filter(|order: &Self| order.version == FORMAT)
    }
}

/// What a node is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Check whether the work can be done, and change nothing.
    Check,
    /// Be ready to begin when the label [`SCHEDULE_LABEL`](crate::names::SCHEDULE_LABEL) is gone: that is the commit.
    Arm,
    /// Keep what was done.
    Confirm,
    /// Go back to what was before, whatever the order said first.
    RollBack,
    /// Be disarmed, if nothing was begun.
    Stop,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_back_and_a_strange_one_is_none() {
        let order = Order {
            version: FORMAT,
            run: "uid-1-1".into(),
            command: Command::RollBack,
            driver: Driver::Rhel,
            secret: "ipb-w1".into(),
            apply_seconds: 3600,
            confirm_seconds: 900,
            goes_back: true,
            by_agent: false,
        };
        let text = serde_json::to_string(&order).unwrap();
        insta::assert_snapshot!(text, @r#"{"version":1,"run":"uid-1-1","command":"roll-back","driver":"rhel","secret":"ipb-w1","applySeconds":3600,"confirmSeconds":900,"goesBack":true}"#);
        assert_eq!(Order::read(&text).as_ref(), Some(&order));
        assert_eq!(
            Order::read(&text.replace(r#","goesBack":true"#, "")),
            Some(order.clone()),
            "of an older controller"
        );
        let by_agent = Order { by_agent: true, ..order };
        assert_eq!(Order::read(&serde_json::to_string(&by_agent).unwrap()), Some(by_agent));
        for strange in ["", "{}", &text.replace(":1,", ":2,"), &text.replace("roll-back", "explode")] {
            assert_eq!(Order::read(strange), None, "{strange}");
        }
    }
}
