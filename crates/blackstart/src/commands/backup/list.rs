//! `blackstart backup list`: the automatic backups of this machine.

use std::path::{Path, PathBuf};

use backup::store::{self, Kept};
use indicatif::HumanBytes;
use jiff::Timestamp;
use serde_json::json;

use crate::context::{Context, Ended};

pub(super) fn run(context: &Context, dir: Option<&Path>) -> Result<(), Ended> {
    let dir: PathBuf = dir.map_or_else(|| context.real_path(Path::new(store::DIR)), Path::to_path_buf);
    let kept = store::list(&dir)?;
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "dir": dir, "backups": kept }))?);
    }
    if kept.is_empty() {
        return Ok(context.out.text(&format!("there are no backups in {}\n", dir.display()))?);
    }
    Ok(context.out.text(&shown(&kept, context.host.clock.now()))?)
}

fn shown(kept: &[Kept], now: Timestamp) -> String {
    let mut text = format!("{:<24}  {:<12}  {:<12}  FILE\n", "MADE", "AGO", "SIZE");
    for Kept { path, made, size } in kept {
        let (ago, size) = (ago(now, *made), HumanBytes(*size).to_string());
        text += &format!("{:<24}  {ago:<12}  {size:<12}  {}\n", made.to_string(), path.display());
    }
    text
}

/// In the two largest units, which is what a person compares.
fn ago(now: Timestamp, made: Timestamp) -> String {
    let minutes = now.duration_since(made).as_mins();
    match minutes {
        ..0 => "in future".to_owned(),
        0..60 => format!("{minutes}m"),
        60..1440 => format!("{}h {}m", minutes / 60, minutes % 60),
        _ => format!("{}d {}h", minutes / 1440, minutes % 1440 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_see() {
        let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        let kept = ["2026-11-16T12:05:01Z", "2026-11-16T11:45:10Z", "2026-11-16T07:45:10Z", "2026-11-09T23:45:10Z"]
            .map(|made| made.parse().unwrap())
            .map(|made| Kept { path: store::file_name("home", "master-01", made).into(), made, size: 3_145_728 });
        insta::assert_snapshot!(shown(&kept, now));
    }
}
