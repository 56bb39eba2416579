//! How long a whole PKI takes, from an empty machine to the list of changes.
//!
//! `cargo run --release -p pki --example full_pki`

use std::{hint::black_box, path::Path, time::Instant};

use host::RealDisk;
use pki::{Existing, Input, Shared};

const ROUNDS: u32 = 100;

#[expect(clippy::print_stdout, reason = "a benchmark prints its result")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let input = Input {
        cluster: "demo".into(),
        domain: "cluster.local".into(),
        service_ip: [10, 96, 0, 1].into(),
        port: 6443,
        endpoint: None,
        extra_sans: Vec::new(),
        node: "master-01".into(),
        hostname: "master-01".into(),
        ip: [192, 168, 1, 11].into(),
        shared: Shared::Make,
    };
    let machine = tempfile::tempdir()?;
    let disk = RealDisk::new(machine.path());
    let root = Path::new("/etc/kubernetes");
    let now = jiff::Timestamp::now();

    let empty = Existing::read(&disk, root)?;
    let started = Instant::now();
    for _ in 0..ROUNDS {
        black_box(pki::plan(&empty, &input, now)?);
    }
    println!("everything made:    {:?}", started.elapsed() / ROUNDS);

    for change in pki::plan(&empty, &input, now)? {
        change.apply(&disk)?;
    }
    let started = Instant::now();
    for _ in 0..ROUNDS {
        let complete = Existing::read(&disk, root)?;
        assert!(black_box(pki::plan(&complete, &input, now)?).is_empty());
    }
    println!("everything checked: {:?}", started.elapsed() / ROUNDS);
    Ok(())
}
