//! A step's changes in few lines: many files of one directory are one line, and so are all owned resources.

use std::path::Path;

use ::explain::counted;
use engine::Planned;
use host::Change;

/// As many files of one directory are named.
const NAMED: usize = 3;

/// What is done, and in which directory.
type Group<'a> = (&'static str, &'a Path);

/// The lines, in the order in which each was first planned.
pub(super) fn summary(changes: &[Planned]) -> Vec<String> {
    let mut lines: Vec<(Option<Group<'_>>, String)> = Vec::new();
    for planned in changes {
        match planned {
            Planned::File(Change::Directory { path, .. }) if holds_one(path, changes) => {}
            Planned::File(Change::Directory { path, .. }) => {
                lines.push((None, format!("create directory {}", path.display())));
            }
            Planned::File(Change::Link { path, .. }) => lines.push((in_dir("create", path), planned.to_string())),
            Planned::File(Change::Remove { path }) => lines.push((in_dir("remove", path), planned.to_string())),
            Planned::File(Change::File { path, .. } | Change::Copy { path, .. }) => {
                lines.push((in_dir("write", path), write(path)));
            }
            Planned::Act(act) => lines.push((None, act.what.clone())),
            Planned::Fetch(act, files) => {
                lines.push((None, act.what.clone()));
                for path in files {
                    lines.push((in_dir("write", path), write(path)));
                }
            }
            Planned::Claim(_) => {}
        }
    }
    let claims = changes.iter().filter(|planned| matches!(planned, Planned::Claim(_))).count();
    let claimed = (claims > 0).then(|| format!("claim {}, which a reset undoes", counted(claims, "resource")));
    shortened(&lines).into_iter().chain(claimed).collect()
}

/// Many lines of one group are one, in the place of the first of them.
fn shortened(lines: &[(Option<Group<'_>>, String)]) -> Vec<String> {
    let mut short: Vec<String> = Vec::new();
    for (group, line) in lines {
        let count = lines.iter().filter(|(other, _)| other == group).count();
        let line = match group {
            Some((verb, dir)) if count > NAMED => {
                let what = if *verb == "create" { "link" } else { "file" };
                format!("{verb} {} in {}", counted(count, what), dir.display())
            }
            _ => line.clone(),
        };
        if !short.contains(&line) {
            short.push(line);
        }
    }
    short
}

fn in_dir<'a>(verb: &'static str, path: &'a Path) -> Option<Group<'a>> {
    path.parent().map(|dir| (verb, dir))
}

fn write(path: &Path) -> String {
    format!("write {}", path.display())
}

/// A directory that is made for a file of the same step says nothing of its own.
fn holds_one(dir: &Path, changes: &[Planned]) -> bool {
    changes.iter().any(|planned| match planned {
        Planned::File(Change::Directory { .. }) => false,
        Planned::File(change) => change.path().starts_with(dir),
        fetch => fetch.fetched().iter().any(|path| path.starts_with(dir)),
    })
}

#[cfg(test)]
mod tests {
    use host::Content;

    use super::*;

    fn file(path: &str) -> Planned {
        Change::File { path: path.into(), mode: 0o600, content: Content::Plain(Vec::new()) }.into()
    }

    #[test]
    fn many_of_one_directory_are_one_line_and_few_are_named() {
        let directory = |path: &str| Planned::from(Change::Directory { path: path.into(), mode: 0o700 });
        let link = |path: &str| Planned::from(Change::Link { path: path.into(), target: "../it".into() });
        let many = ["/pki/a", "/pki/b", "/pki/etcd/a", "/pki/c", "/pki/d"].map(file);
        let changes: Vec<Planned> = [directory("/pki"), directory("/run/netns"), Planned::claim("x", "claim x")]
            .into_iter()
            .chain(many)
            .chain([link("/wants/a"), Planned::act("reload", "reload"), Planned::claim("y", "claim y")])
            .chain([Planned::fetch("ask", "ask the masters", vec!["/pki/e".into(), "/etc/f".into()])])
            .collect();
        assert_eq!(
            summary(&changes),
            [
                "create directory /run/netns",
                "write 5 files in /pki",
                "write /pki/etcd/a",
                "point /wants/a to ../it",
                "reload",
                "ask the masters",
                "write /etc/f",
                "claim 2 resources, which a reset undoes",
            ]
        );
    }
}
