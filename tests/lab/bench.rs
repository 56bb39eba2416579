//! How long machines take to boot, and how much memory an idle one needs: `cargo bench -p blackstart --bench lab-boot`.
//!
//! Each figure is the median of several labs, made with everything cached and removed again. Figures of a computer that
//! does something else at the same time say little: the load is printed with them.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program for people who measure")]

use std::{
    fs,
    process::{Command, Output},
    thread::sleep,
    time::{Duration, Instant},
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_blackstart");
const NAME: &str = "bench";
const ROUNDS: usize = 5;

fn main() {
    up(0); // warms every cache
    destroy();
    println!("load before: {}", fs::read_to_string("/proc/loadavg").unwrap().trim());
    for (label, workers) in [("one machine", 0), ("three machines", 2), ("five machines", 4)] {
        let mut times: Vec<Duration> = (0..ROUNDS)
            .map(|_| {
                let started = Instant::now();
                up(workers);
                let took = started.elapsed();
                destroy();
                took
            })
            .collect();
        times.sort();
        let seconds = |index: usize| times[index].as_secs_f64();
        println!(
            "{label} to running: median {:.1} s, {:.1} to {:.1} s",
            seconds(ROUNDS / 2),
            seconds(0),
            seconds(ROUNDS - 1)
        );
    }
    up(4);
    sleep(Duration::from_secs(20)); // idle
    let status = lab(&["status", "-o", "json"]).stdout;
    let status: serde_json::Value = serde_json::from_slice(&status).unwrap();
    let machines = status["machines"].as_array().unwrap();
    let mut memory: Vec<u64> = machines.iter().map(|machine| machine["memory_mb"].as_u64().unwrap()).collect();
    memory.sort_unstable();
    println!("memory of an idle machine: median {} MB of {memory:?}", memory[memory.len() / 2]);
    destroy();
}

fn up(workers: u8) {
    lab(&["up", "--machines-only", "--masters", "1", "--workers", &workers.to_string()]);
}

fn destroy() {
    lab(&["destroy", "--yes"]);
}

fn lab(arguments: &[&str]) -> Output {
    let output = Command::new(PROGRAM).arg("lab").args(arguments).args(["--name", NAME]).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}
