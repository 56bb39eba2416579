//! What we read in a certificate request, Go reads too: our reader and Go's own, on many requests that were made to be read
//! differently.
//!
//! An approver that reads one thing in a request and a signer that reads another one have given a cluster away. We sign what
//! we have read ourselves, so no other reader has to agree with us; that all do is the second wall. The property:
//! whatever our reader takes as canonical, Go takes, and reads the same in it; and every honest request is taken.
//!
//! Cases follow from one number, which is printed; `BLACKSTART_TEST_SEED=N` repeats them (keys and signatures are made again).
//! `BLACKSTART_TEST_FULL=1` tries some millions.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failing unwrap in a test is the failure we want to see"
)]

mod chance;
mod go;
#[path = "../../../../tests/support/seed.rs"]
mod seed;
mod text;
mod tree;

use std::{collections::BTreeMap, net::IpAddr, path::Path, thread, time::Instant};

use pki::Request;
use rcgen::{
    CertificateParams, DistinguishedName, DnType, DnValue, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384,
    SanType,
};
use spec::San;

use crate::chance::Chance;

/// Within some seconds, and within a quarter of an hour or so.
const CASES: usize = 20_000;
const CASES_IN_FULL: usize = 4_000_000;

/// Sent to Go at once.
const BATCH: usize = 500;

/// A text, and how it came about.
struct Case {
    text: Vec<u8>,
    tricks: Vec<&'static str>,
}

/// What became of the cases.
#[derive(Default)]
struct Tally {
    taken_by_both: usize,
    taken_by_go_alone: usize,
    refused_by_both: usize,
    /// Tricks after which a text was still taken by Go.
    passed_go: BTreeMap<&'static str, usize>,
}

#[test]
fn what_we_take_go_reads_the_same() {
    let seed = seed::chosen().unwrap();
    let cases = if std::env::var_os("BLACKSTART_TEST_FULL").is_some() { CASES_IN_FULL } else { CASES };
    println!("{}={seed}", seed::VARIABLE);
    let program = go::build();
    let honest = go::honest(&program, 64);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let begun = Instant::now();
    let tallies: Vec<Tally> = thread::scope(|scope| {
        let work = |worker: usize| {
            let (program, honest) = (&program, &honest);
            scope.spawn(move || compare(program, honest, seed.wrapping_add(worker as u64), cases / workers))
        };
        let running: Vec<_> = (0..workers).map(work).collect();
        running
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| panic!("BLACKSTART_TEST_SEED={seed}")))
            .collect()
    });
    let sum = |of: fn(&Tally) -> usize| tallies.iter().map(of).sum::<usize>();
    let [both, go_alone, neither] =
        [sum(|tally| tally.taken_by_both), sum(|tally| tally.taken_by_go_alone), sum(|tally| tally.refused_by_both)];
    let milliseconds = begun.elapsed().as_millis().max(1);
    println!(
        "{cases} cases in {milliseconds} ms ({} a second): {both} taken by both, {go_alone} by Go alone, {neither} by neither",
        1000 * cases as u128 / milliseconds
    );
    // A test whose cases are all refused at the first byte would prove nothing.
    assert!(both * 20 > cases, "too few requests are taken at all");
    assert!(go_alone * 20 > cases, "too few requests are of a form that only Go takes");
    let passed: usize = tallies
        .iter()
        .fold(BTreeMap::<&str, usize>::new(), |mut all, tally| {
            tally.passed_go.keys().for_each(|trick| *all.entry(trick).or_default() += 1);
            all
        })
        .len();
    println!("{passed} kinds of tricks got by Go at least once");
}

fn compare(program: &Path, honest: &[Vec<u8>], seed: u64, cases: usize) -> Tally {
    let mut chance = Chance::new(seed);
    let mut go = go::Reader::start(program);
    let keys: Vec<KeyPair> = [&PKCS_ECDSA_P256_SHA256, &PKCS_ECDSA_P256_SHA256, &PKCS_ECDSA_P384_SHA384]
        .map(|algorithm| KeyPair::generate_for(algorithm).unwrap())
        .into();
    for text in honest {
        let read = go.read(std::slice::from_ref(text)).remove(0);
        assert_eq!(our_reading(text).as_deref(), Some(read.as_str()), "an honest request of Go's");
    }
    let mut tally = Tally::default();
    for start in (0..cases).step_by(BATCH) {
        let batch: Vec<Case> = (start..cases.min(start + BATCH)).map(|_| case(honest, &keys, &mut chance)).collect();
        let texts: Vec<Vec<u8>> = batch.iter().map(|case| case.text.clone()).collect();
        for (case, go) in batch.iter().zip(go.read(&texts)) {
            count(case, our_reading(&case.text), &go, &mut tally);
        }
    }
    tally
}

fn count(case: &Case, ours: Option<String>, go: &str, tally: &mut Tally) {
    match ours {
        Some(ours) => {
            let hex: String = case.text.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(ours, go, "tricks: {:?}\nthe text in hex: {hex}", case.tricks);
            tally.taken_by_both += 1;
        }
        None if case.tricks.is_empty() => panic!("honest, and not taken: {}", String::from_utf8_lossy(&case.text)),
        None if go == "refused" => tally.refused_by_both += 1,
        None => {
            tally.taken_by_go_alone += 1;
            case.tricks.iter().for_each(|trick| *tally.passed_go.entry(trick).or_default() += 1);
        }
    }
}

/// What we read in a text, as the Go program writes it down; `None` for what we do not take.
fn our_reading(text: &[u8]) -> Option<String> {
    let request = Request::from_pem(text).ok().filter(|request| request.is_canonical)?;
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let listed = |texts: &[String]| texts.iter().map(|text| hex(text.as_bytes())).collect::<Vec<_>>().join(",");
    let sorted = |pick: fn(&San) -> Option<Vec<u8>>| {
        let mut all: Vec<String> = request.names.iter().filter_map(pick).map(|bytes| hex(&bytes)).collect();
        all.sort();
        all.join(",")
    };
    let dns = sorted(|san| match san {
        San::Dns(name) => Some(name.clone().into_bytes()),
        San::Ip(_) => None,
    });
    let ips = sorted(|san| match san {
        San::Dns(_) => None,
        San::Ip(IpAddr::V4(ip)) => Some(ip.octets().to_vec()),
        San::Ip(IpAddr::V6(ip)) => Some(ip.octets().to_vec()),
    });
    assert!(!request.has_other_attributes && !request.has_other_names && request.has_strong_key);
    Some(format!(
        "cn={} o={} others=0 dns={dns} ip={ips} mail=0 uri=0 extensions=0 signed=true key={}",
        listed(&request.common_names),
        listed(&request.organizations),
        hex(request.public_key_info()),
    ))
}

/// One request, made honestly or not, in a text that is honest or not.
fn case(honest: &[Vec<u8>], keys: &[KeyPair], chance: &mut Chance) -> Case {
    let mut tricks = Vec::new();
    let mut text = match chance.below(10) {
        0 => chance.of(honest).clone(),
        1 => by_rcgen(keys, chance),
        _ => text::write(&by_attacker(keys, chance, &mut tricks)),
    };
    if chance.once_in(3) {
        for _ in 0..=chance.below(2) {
            let (name, trick) = chance.of(text::TRICKS);
            let other = chance.of(honest).clone();
            text = trick(&text, &other, chance);
            tricks.push(*name);
        }
    }
    Case { text, tricks }
}

fn by_attacker(keys: &[KeyPair], chance: &mut Chance, tricks: &mut Vec<&'static str>) -> Vec<u8> {
    let key = chance.of(keys);
    let mut draft = tree::honest(key, chance);
    // Mostly one: two of them rarely leave anything that is read at all.
    let count = chance.pick(&[0, 1, 1, 1, 1, 1, 1, 2]);
    for _ in 0..count {
        let (name, trick) = chance.of(tree::TRICKS);
        trick(&mut draft, chance);
        tricks.push(*name);
    }
    draft.sign(key, chance)
}

/// With the library that makes our own requests, set to write texts as Go does.
fn by_rcgen(keys: &[KeyPair], chance: &mut Chance) -> Vec<u8> {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    for (kind, text) in [(DnType::OrganizationName, "system:nodes"), (DnType::CommonName, "system:node:worker-01")] {
        params.distinguished_name.push(kind, DnValue::PrintableString(text.try_into().unwrap()));
    }
    if chance.once_in(2) {
        let dns = SanType::DnsName("worker-01".try_into().unwrap());
        params.subject_alt_names = vec![dns, SanType::IpAddress([192, 0, 2, 1].into())];
    }
    params.serialize_request(chance.of(keys)).unwrap().pem().unwrap().into_bytes()
}
