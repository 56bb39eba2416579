//! Which instant, and what happens then.

use std::str::FromStr;

use engine::State;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) step: String,
    pub(super) instant: Instant,
    pub(super) ending: Ending,
}

/// A moment of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instant {
    Started,
    Before(usize),
    Within(usize),
    Waiting,
    Ended,
}

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Kill,
    Halt,
}

impl Instant {
    /// Whether an event is the instant itself; `number` counts changes from 1.
    pub(super) fn is(self, state: State, number: usize) -> bool {
        match self {
            Self::Started => state == State::Started,
            Self::Before(wanted) => state == State::Applying && number == wanted,
            Self::Waiting => state == State::Waiting,
            Self::Ended => matches!(state, State::Verified | State::Unchanged),
            Self::Within(_) => false,
        }
    }
}

impl FromStr for Plan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let [step, instant, ending] = parts[..] else { return Err("not of the form STEP:INSTANT:ENDING".into()) };
        let ending = match ending {
            "kill" => Ending::Kill,
            "halt" => Ending::Halt,
            other => return Err(format!("`{other}` is neither kill nor halt")),
        };
        Ok(Self { step: step.to_owned(), instant: instant.parse()?, ending })
    }
}

impl FromStr for Instant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbered = text.split_once('-').and_then(|(word, number)| Some((word, number.parse().ok()?)));
        match (text, numbered) {
            ("started", _) => Ok(Self::Started),
            ("waiting", _) => Ok(Self::Waiting),
            ("ended", _) => Ok(Self::Ended),
            (_, Some(("before", number))) => Ok(Self::Before(number)),
            (_, Some(("within", number))) => Ok(Self::Within(number)),
            _ => Err(format!("there is no instant `{text}`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_read_or_refused() {
        let plan = |instant, ending| Ok(Plan { step: "kube-proxy".into(), instant, ending });
        for (text, expected) in [
            ("kube-proxy:started:kill", plan(Instant::Started, Ending::Kill)),
            ("kube-proxy:before-12:halt", plan(Instant::Before(12), Ending::Halt)),
            ("kube-proxy:within-1:kill", plan(Instant::Within(1), Ending::Kill)),
            ("kube-proxy:waiting:kill", plan(Instant::Waiting, Ending::Kill)),
            ("kube-proxy:ended:halt", plan(Instant::Ended, Ending::Halt)),
            ("kube-proxy:ended", Err("not of the form STEP:INSTANT:ENDING".into())),
            ("kube-proxy:ended:later", Err("`later` is neither kill nor halt".into())),
            ("kube-proxy:before-x:kill", Err("there is no instant `before-x`".into())),
        ] {
            assert_eq!(text.parse::<Plan>(), expected, "{text}");
        }
    }

    #[test]
    fn an_instant_is_one_kind_of_event() {
        for (instant, state, number, expected) in [
            (Instant::Started, State::Started, 0, true),
            (Instant::Started, State::Applying, 1, false),
            (Instant::Before(2), State::Applying, 1, false),
            (Instant::Before(2), State::Applying, 2, true),
            (Instant::Within(2), State::Applying, 2, false),
            (Instant::Waiting, State::Waiting, 0, true),
            (Instant::Ended, State::Verified, 0, true),
            (Instant::Ended, State::Unchanged, 0, true),
            (Instant::Ended, State::Failed, 0, false),
        ] {
            assert_eq!(instant.is(state, number), expected, "{instant:?} {state:?} {number}");
        }
    }
}
