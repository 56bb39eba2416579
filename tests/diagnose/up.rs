//! A `node up` that fails says by itself what is most likely behind it.

use crate::{bench::Bench, case::WORKER};

/// The ledger cannot be written, which is the error; that the file system is read-only is the reason.
pub(crate) fn a_failure_is_explained(bench: &Bench) -> Result<(), String> {
    let state = "/var/lib/cluster-state";
    bench.try_sh(WORKER, &format!("mount --bind {state} {state}; mount -o remount,bind,ro {state}"))?;
    let text = bench.lab.run("exec", &[WORKER, "--", "timeout", "60", "blackstart", "node", "up"]);
    let json = bench.lab.run("exec", &[WORKER, "--", "timeout", "60", "blackstart", "node", "up", "-o", "json"]);
    bench.try_sh(WORKER, &format!("umount {state}"))?;

    let below_the_error = text.err.split_once("error[").map(|(_, below)| below).unwrap_or_default();
    let is_shown = below_the_error.contains(&format!("likely cause[BS-DIAG-013]: {state} is mounted read-only"));
    if text.code != Some(1) || !is_shown {
        return Err(format!("no likely cause below the error: {text:?}"));
    }
    let last = json.out.lines().last().and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let code = last.as_ref().map(|last| &last["diagnosis"]["findings"][0]["code"]);
    if code != Some(&"BS-DIAG-013".into()) {
        return Err(format!("the last line for scripts is not the diagnosis: {json:?}"));
    }
    Ok(())
}
