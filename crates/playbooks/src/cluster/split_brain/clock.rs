//! Whether this machine's clock is that of the cluster. Pure.
//!
//! A master makes its own certificates. With a clock that is ahead no other node trusts them yet, with one that is behind they
//! end early; etcd and the API server would start, and no other node would talk to them. The masters that are part of the
//! cluster have the time that counts; those that are not yet are asked nothing.

use jiff::{SignedDuration, Timestamp};

/// Certificates are good from five minutes before they were made.
const TOLERATED: SignedDuration = SignedDuration::from_mins(5);

/// What is wrong, if the clock of a master that is part of the cluster shows something else than `now`.
pub(super) fn difference(now: Timestamp, masters: &[(&str, Timestamp)]) -> Option<String> {
    let is_apart = |theirs: Timestamp| now.duration_since(theirs).abs() > TOLERATED;
    let (master, theirs) = masters.iter().find(|(_, theirs)| is_apart(*theirs))?;
    let way = if now < *theirs { "behind" } else { "ahead of" };
    let seconds = now.duration_since(*theirs).abs().as_secs();
    let [own, theirs] = [now, *theirs].map(|time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string());
    Some(format!("clock skew: this machine is {seconds} s {way} {master}: {own} here, {theirs} there"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_the_cluster_is_what_its_masters_say() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = at("2026-12-01T12:00:00Z");
        let near = ("m2", at("2026-12-01T12:04:59Z"));
        assert_eq!(difference(now, &[]), None);
        assert_eq!(difference(now, &[near, ("m3", at("2026-12-01T11:55:01Z"))]), None);
        insta::assert_snapshot!([
            difference(now, &[near, ("m3", at("2026-12-02T12:00:00Z"))]),
            difference(now, &[("m2", at("2026-11-30T12:00:00Z")), near]),
        ].map(Option::unwrap).join("\n"), @r"
        clock skew: this machine is 86400 s behind m3: 2026-12-01 12:00:00 UTC here, 2026-12-02 12:00:00 UTC there
        clock skew: this machine is 86400 s ahead of m2: 2026-12-01 12:00:00 UTC here, 2026-11-30 12:00:00 UTC there
        ");
    }
}
