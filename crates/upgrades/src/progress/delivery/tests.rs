use super::*;
use crate::progress::Event;

const NOW: i64 = 1_767_225_600; // 2026-01-01T00:00:00Z, a Thursday

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(NOW + second).unwrap()
}

fn outbox(ages: &[i64]) -> Outbox {
    let mut outbox = Outbox::default();
    for age in ages {
        outbox.push(Event { at: at(-age), message: "m".into(), ..Event::default() });
    }
    outbox
}

fn answered(status: u16, retry_after: Option<&str>) -> Outcome {
    let status = StatusCode::from_u16(status).unwrap();
    Outcome::Answered { status, retry_after: retry_after.map(str::to_owned), text: String::new() }
}

fn first(outcome: Outcome, outbox: &Outbox) -> Answer {
    Answer { seq: outbox.events[0].seq, outcome }
}

#[test]
fn each_answer_has_its_consequence() {
    let silent = || Outcome::Unanswered("connection refused".into());
    let http_date = |text| answered(503, Some(text));
    let cases = [
        (answered(200, None), "2 | now"),
        (answered(204, None), "2 | now"),
        (answered(410, None), "stopped | BS-UPG-030 the progress API answers 410 Gone: nothing more is reported"),
        (answered(400, None), "2 | now BS-UPG-030 the progress API answers 400 Bad Request"),
        (answered(401, None), "2 | now BS-UPG-030 the progress API answers 401 Unauthorized"),
        (answered(404, Some("60")), "2 | now BS-UPG-030 the progress API answers 404 Not Found"),
        (answered(408, None), "1 2 | 1 s BS-UPG-033 the progress API answers 408 Request Timeout"),
        (answered(425, None), "1 2 | 1 s BS-UPG-033 the progress API answers 425 Too Early"),
        (answered(429, None), "1 2 | 1 s BS-UPG-033 the progress API answers 429 Too Many Requests"),
        (answered(429, Some(" 42 ")), "1 2 | 42 s BS-UPG-033 the progress API answers 429 Too Many Requests"),
        (answered(429, Some("0")), "1 2 | 1 s BS-UPG-033 the progress API answers 429 Too Many Requests"),
        (answered(429, Some("86400")), "1 2 | 300 s BS-UPG-033 the progress API answers 429 Too Many Requests"),
        (answered(429, Some("soon")), "1 2 | 1 s BS-UPG-033 the progress API answers 429 Too Many Requests"),
        (answered(429, Some("-5")), "1 2 | 1 s BS-UPG-033 the progress API answers 429 Too Many Requests"),
        (
            http_date("Thu, 01 Jan 2026 00:01:30 GMT"),
            "1 2 | 90 s BS-UPG-033 the progress API answers 503 Service Unavailable",
        ),
        (
            http_date("Thu, 01 Jan 2026 09:00:00 GMT"),
            "1 2 | 300 s BS-UPG-033 the progress API answers 503 Service Unavailable",
        ),
        (
            http_date("Wed, 31 Dec 2025 09:00:00 GMT"),
            "1 2 | 1 s BS-UPG-033 the progress API answers 503 Service Unavailable",
        ),
        (answered(500, Some("60")), "1 2 | 1 s BS-UPG-033 the progress API answers 500 Internal Server Error"),
        (answered(308, None), "1 2 | 1 s BS-UPG-033 the progress API answers 308 Permanent Redirect"),
        (silent(), "1 2 | 1 s BS-UPG-033 the progress API does not answer: connection refused"),
    ];
    for (outcome, expected) in cases {
        let before = outbox(&[20, 10]);
        let after = before.after(&first(outcome.clone(), &before), at(0));
        let events: Vec<String> = after.events.iter().map(|event| event.seq.to_string()).collect();
        let wait =
            after.not_before.map_or("now".to_owned(), |until| format!("{} s", until.duration_since(at(0)).as_secs()));
        let error = after.last_error.as_ref().map(|error| format!(" {} {}", error.code, error.message));
        let queue = if after.stopped { "stopped |".to_owned() } else { format!("{} | {wait}", events.join(" ")) };
        assert_eq!(format!("{queue}{}", error.unwrap_or_default()), expected, "{outcome:?}");
        assert_eq!(before.seq, after.seq);
        assert_eq!(after.after(&first(outcome, &before), at(1)).events.len(), after.events.len(), "reported twice");
    }
}

#[test]
fn back_off_doubles_up_to_five_minutes_and_a_success_ends_it() {
    let mut outbox = outbox(&[0, 0]);
    let waits: Vec<i64> = (0..11)
        .map(|_| {
            outbox = outbox.after(&first(answered(502, None), &outbox), at(0));
            outbox.not_before.unwrap().duration_since(at(0)).as_secs()
        })
        .collect();
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    let after = outbox.after(&first(answered(202, None), &outbox), at(0));
    let state = (after.failures, after.not_before, after.first_failure, after.last_error);
    assert_eq!(state, (0, None, None, None));
    assert_eq!(after.dropped, 0);
}

#[test]
fn what_is_undelivered_for_a_day_is_dropped() {
    let (hour, day) = (3600, 86_400);
    // Noted two days, two hours and one hour before; no controller tried until now.
    let mut outbox = outbox(&[2 * day, 2 * hour, hour]);
    let mut left = Vec::new();
    for second in [0, day - 1, day, day + 1] {
        outbox = match outbox.events.first() {
            Some(_) => outbox.after(&first(Outcome::Unanswered("x".into()), &outbox), at(second)),
            None => outbox,
        };
        left.push((outbox.events.len(), outbox.dropped, outbox.last_error.clone().unwrap().code));
    }
    let delayed = |count| (count, 0, "BS-UPG-033".to_owned());
    let gone = (0, 3, "BS-UPG-031".to_owned());
    assert_eq!(left, [delayed(3), delayed(3), gone.clone(), gone]);
    let message = outbox.last_error.as_ref().unwrap().message.as_str();
    assert_eq!(message, "3 reports dropped after a day; the progress API does not answer: x");

    // One that came later has a day of its own.
    outbox.push(Event { at: at(day), ..Event::default() });
    let after = outbox.after(&first(Outcome::Unanswered("x".into()), &outbox), at(2 * day - 1));
    assert_eq!(after.events.len(), 1);
    assert_eq!(after.after(&first(answered(500, None), &after), at(2 * day)).events.len(), 0);
}

#[test]
fn a_late_answer_removes_no_other_event() {
    let outbox = outbox(&[3, 2, 1]);
    for outcome in [answered(200, None), answered(400, None), answered(410, None), answered(500, None)] {
        for seq in [0, 2, 3, 9] {
            assert_eq!(outbox.after(&Answer { seq, outcome: outcome.clone() }, at(0)), outbox);
        }
    }
}

#[test]
fn once_stopped_nothing_is_kept() {
    let mut outbox = outbox(&[1]);
    outbox = outbox.after(&first(answered(410, None), &outbox), at(0));
    outbox.push(Event::default());
    assert_eq!((outbox.seq, outbox.events.len(), outbox.dropped, outbox.is_delivered()), (2, 0, 1, true));
}
