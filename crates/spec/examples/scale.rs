//! What a large description costs: `cargo run --release -p spec --example scale`.
//!
//! Prints time and peak memory for 1,000 and 5,000 nodes, and for 5,000 nodes with a file each. Every row runs in a
//! process of its own, because the peak of a process never falls.

use std::{
    error::Error,
    fmt::Write as _,
    fs,
    io::{self, Write as _},
    net::Ipv4Addr,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

/// Best of this many runs: the cost, not the noise of the machine.
const RUNS: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [nodes, files] = arguments.as_slice() {
        return measure(nodes.parse()?, files == "files");
    }
    writeln!(io::stdout(), "nodes  node files  check        peak memory")?;
    let mut alone = Vec::new();
    for (nodes, files) in [("1000", "alone"), ("5000", "alone"), ("1000", "files"), ("5000", "files")] {
        let output = Command::new(std::env::current_exe()?).args([nodes, files]).output()?;
        if !output.status.success() {
            return Err(format!("{nodes} nodes: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        let line = String::from_utf8(output.stdout)?;
        io::stdout().write_all(line.as_bytes())?;
        if files == "alone" {
            let figures: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            alone.push((figures[2], figures[3]));
        }
    }
    let [(small, _), (large, memory)] = alone[..] else { return Err("two rows without node files".into()) };
    writeln!(io::stdout(), "5,000 nodes cost {:.1} times 1,000", large / small)?;
    if large > 250.0 || memory > 150.0 || large > 6.0 * small {
        return Err("over the limit: 250 ms, 150 MB, 6 times".into());
    }
    Ok(())
}

fn measure(nodes: u32, with_files: bool) -> Result<(), Box<dyn Error>> {
    let dir = std::env::temp_dir().join(format!("blackstart-scale-{}", std::process::id()));
    write_description(&dir, nodes, with_files)?;
    let mut best = Duration::MAX;
    let mut outcome = Ok(());
    for _ in 0..RUNS {
        let start = Instant::now();
        let checked = spec::check_dir(&dir);
        best = best.min(start.elapsed());
        if checked.cluster.is_none() || !checked.problems.is_empty() {
            outcome = Err(spec::report(&checked.problems, false));
        }
    }
    fs::remove_dir_all(&dir)?;
    outcome?;
    let files = if with_files { nodes } else { 0 };
    writeln!(
        io::stdout(),
        "{nodes:>5}  {files:>10}  {:>8.1} ms  {:>8.1} MB",
        best.as_secs_f64() * 1e3,
        peak_megabytes()?
    )?;
    Ok(())
}

fn write_description(dir: &Path, nodes: u32, with_files: bool) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(dir.join("nodes"))?;
    let mut cluster = "cluster:\n  name: large\n  networking:\n    node_cidr: 172.16.0.0/12\n    \
                       pod_cidr: 10.0.0.0/10\n    pod_prefix_per_node: 24\n    service_cidr: 10.96.0.0/12\nnodes:\n"
        .to_owned();
    for index in 0..nodes {
        let ip = Ipv4Addr::from(u32::from(Ipv4Addr::new(172, 16, 1, 0)) + index);
        let role = if index < 3 { "master" } else { "worker" };
        let [a, b, c, d] = index.to_be_bytes();
        let mac = format!("52:54:{a:02x}:{b:02x}:{c:02x}:{d:02x}");
        writeln!(cluster, "  - name: node-{index:04}\n    ip: {ip}\n    roles: [{role}]")?;
        if with_files {
            let facts = format!(
                "node:\n  name: node-{index:04}\n  hostname: node-{index:04}\n  ip: {ip}\n  roles: [{role}]\n  \
                 hardware:\n    mac_addresses:\n      - \"{mac}\"\n"
            );
            fs::write(dir.join(format!("nodes/node-{index:04}.yaml")), facts)?;
        } else {
            writeln!(cluster, "    hardware:\n      mac_addresses: [\"{mac}\"]")?;
        }
    }
    fs::write(dir.join("cluster.yaml"), cluster)?;
    Ok(())
}

/// The highest resident size so far, as the kernel counts it.
fn peak_megabytes() -> Result<f64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM in /proc/self/status")?;
    let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kibibytes * 1024.0 / 1e6)
}
