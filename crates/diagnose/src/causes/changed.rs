//! Units and configuration files that are not as this program writes them. An administrator may want that, and it
//! may do no harm, so it counts as the reason only where the service does not work.

use host::Disk;
use nodekit::systemd::Unit;
use render::RenderedFile;

use crate::{Check, Checking, Context, Finding, Inconclusive, codes::SERVICE_CHANGED, unit::part};

/// See [`super`].
pub(crate) const CHECK: Check =
    Check::new("changed", "units and configuration files that were changed by hand", &[SERVICE_CHANGED], check);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let mut found = Vec::new();
        for (service, unit) in context.started_services().await? {
            let mut changes: Vec<String> = own_drop_ins(&unit).map(|path| format!("the drop-in {path}")).collect();
            for file in [service.unit_file()].iter().chain(&service.files) {
                changes.extend(difference(&*context.host.disk, file)?);
            }
            found.extend(evaluate(&unit, &changes));
        }
        Ok(found)
    })
}

/// Those for this unit alone: distributions ship some for all services.
fn own_drop_ins(unit: &Unit) -> impl Iterator<Item = &String> {
    let directory = format!("/{}.d/", unit.name);
    unit.drop_ins.iter().filter(move |path| path.contains(&directory))
}

pub(super) fn difference(disk: &dyn Disk, wanted: &RenderedFile) -> Result<Option<String>, Inconclusive> {
    let path = wanted.path.display();
    let Some(found) = disk.read_optional(&wanted.path)? else { return Ok(Some(format!("{path}, which is missing"))) };
    if found.is_empty() {
        return Ok(Some(format!("{path}, which is empty")));
    }
    let found = String::from_utf8_lossy(&found);
    Ok(first_difference(&wanted.text, &found).map(|(line, text)| {
        // A file that not every user may read can hold what must not be in a report.
        let is_public = wanted.mode & 0o004 != 0;
        if is_public { format!("{path}, line {line}: `{text}`") } else { format!("{path}, from line {line} on") }
    }))
}

/// Number and text of the first line that is not as wanted.
fn first_difference<'a>(wanted: &str, found: &'a str) -> Option<(usize, &'a str)> {
    if wanted == found {
        return None;
    }
    let same = wanted.lines().zip(found.lines()).take_while(|(wanted, found)| wanted == found).count();
    Some((same + 1, found.lines().nth(same).unwrap_or_default()))
}

fn evaluate(unit: &Unit, changes: &[String]) -> Option<Finding> {
    if changes.is_empty() {
        return None;
    }
    let name = &unit.name;
    let evidence = format!("{name} was changed by hand: {}", changes.join("; "));
    let drop_ins: Vec<&str> = own_drop_ins(unit).map(String::as_str).collect();
    let fix = if drop_ins.is_empty() {
        "`blackstart node up` writes the file as it should be and restarts the service".to_owned()
    } else {
        format!("`rm {} && systemctl daemon-reload && systemctl restart {name}`", drop_ins.join(" "))
    };
    Some(Finding::suspicion(SERVICE_CHANGED, part(unit), evidence).with_fix(fix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs() {
        for (wanted, found, expected) in [
            ("a\nb\n", "a\nb\n", None),
            ("a\nb\n", "a\nc\n", Some((2, "c"))),
            ("a\nb\n", "a\n", Some((2, ""))),
            ("a\n", "a\nmore\n", Some((2, "more"))),
            ("a\n", "", Some((1, ""))),
        ] {
            assert_eq!(first_difference(wanted, found), expected, "{found}");
        }
    }

    #[test]
    fn what_is_not_for_everybody_is_not_shown() {
        let machine = tempfile::tempdir().unwrap();
        std::fs::write(machine.path().join("file"), "one\nsecret\n").unwrap();
        let disk = host::RealDisk::new(machine.path());
        let wanted = |mode| RenderedFile { path: "/file".into(), mode, text: "one\ntwo\n".into() };
        assert_eq!(difference(&disk, &wanted(0o644)).unwrap().unwrap(), "/file, line 2: `secret`");
        assert_eq!(difference(&disk, &wanted(0o600)).unwrap().unwrap(), "/file, from line 2 on");
        let missing = RenderedFile { path: "/other".into(), ..wanted(0o644) };
        assert_eq!(difference(&disk, &missing).unwrap().unwrap(), "/other, which is missing");
    }

    #[test]
    fn a_drop_in_for_all_services_is_no_change_by_hand() {
        let unit = Unit {
            name: "etcd.service".into(),
            drop_ins: vec!["/usr/lib/systemd/system/service.d/10-all.conf".into()],
            ..Unit::default()
        };
        assert_eq!(own_drop_ins(&unit).count(), 0);
        assert_eq!(evaluate(&unit, &[]), None);
        let path = "/etc/systemd/system/etcd.service.d/override.conf";
        let changed = Unit { drop_ins: vec![path.into()], ..unit };
        let finding = evaluate(&changed, &[format!("the drop-in {path}")]).unwrap();
        insta::assert_snapshot!(format!("{}\n{}", finding.evidence, finding.fix), @r"
        etcd.service was changed by hand: the drop-in /etc/systemd/system/etcd.service.d/override.conf
        `rm /etc/systemd/system/etcd.service.d/override.conf && systemctl daemon-reload && systemctl restart etcd.service`
        ");
    }
}
