//! The registries would give this node the two images: the machine-config-daemon's and the system's.
//!
//! A mirror that only podman knows, or a proxy, may lead elsewhere than the name says. Where the node has one of them, a
//! registry that does not answer is a warning.

use std::path::Path;

use checks::{Check, Checking, Finding, Inconclusive, Part};
use futures::future::join_all;
use host::Disk;
use upgrades::names::key;

use super::super::{
    images::Image,
    payload::content,
    registry::{self, Client, Credentials, Reply},
    stored::Target,
};
use crate::{
    codes::{BAD_PULL_SECRET, NO_MANIFEST, REGISTRY_DENIES, REGISTRY_UNREACHABLE},
    drivers::Subject,
};

/// See [`super`].
pub(super) const CHECK: Check<Subject> = Check::new(
    "images",
    "the registries give this node both images",
    &[BAD_PULL_SECRET, NO_MANIFEST, REGISTRY_DENIES, REGISTRY_UNREACHABLE],
    check,
);

const DETOURS: [&str; 2] = ["/etc/containers/registries.conf", "/etc/mco/proxy.env"];
const MORE: &str = "/etc/containers/registries.conf.d";

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async move {
        let disk = &*subject.host.disk;
        let target = Target::read(disk, &subject.run)
            .map_err(|_| Inconclusive("there is no payload that names images".to_owned()))?;
        let credentials = match target.credentials(disk, &subject.run) {
            Ok(credentials) => credentials,
            Err(error) => return Ok(vec![super::found(&error)]),
        };
        let detour = detour(disk, &target)?;
        let ca = subject.run.secret.get(key::CA).map(registry::usable);
        let asked = [&target.images.mco, &target.images.os].map(|image| ask(disk, image, &credentials, ca.as_deref()));
        let replies = join_all(asked).await;
        Ok(replies.into_iter().filter_map(|(image, reply)| evaluate(image, reply, detour)).collect())
    })
}

async fn ask<'a>(disk: &dyn Disk, image: &'a Image, credentials: &Credentials, ca: Option<&str>) -> (&'a Image, Reply) {
    let client = registry::roots(disk, &image.registry, ca)
        .map_err(|error| explain::chain(&error))
        .and_then(|roots| Client::new(&roots));
    match client {
        Ok(client) => (image, client.ask(image, credentials).await),
        Err(why) => (image, Reply::Silent(why)),
    }
}

/// Whether podman may go elsewhere than the name says, by what the node has or gets.
fn detour(disk: &dyn Disk, target: &Target) -> Result<bool, Inconclusive> {
    for file in DETOURS {
        let has = disk.read_optional(Path::new(file))?.is_some_and(|text| leads_elsewhere(&text));
        // A file that cannot be decoded is the business of another check.
        let gets = content(target.config.files(), file).and_then(Result::ok).is_some_and(|text| leads_elsewhere(&text));
        if has || gets {
            return Ok(true);
        }
    }
    let dir = Path::new(MORE);
    Ok(disk.exists(dir)? && disk.list(dir)?.iter().any(|name| name.contains("mirror")))
}

/// Every node has these files, most of them with nothing in them.
fn leads_elsewhere(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    lines.into_iter().any(|line| line.contains("mirror") || line.contains("_PROXY="))
}

fn evaluate(image: &Image, reply: Reply, detour: bool) -> Option<Finding> {
    let (code, why) = match reply {
        Reply::Has => return None,
        Reply::Lacks => (NO_MANIFEST, "it does not have it".to_owned()),
        Reply::Denies(why) => (REGISTRY_DENIES, why),
        Reply::Silent(why) => (REGISTRY_UNREACHABLE, why),
    };
    let asked = format!("{} asked for {}@{}: {why}", image.registry, image.repository, image.digest);
    let evidence = explain::plain(&asked).into_owned();
    Some(if detour {
        let evidence = format!("{evidence}; podman may know a mirror or a proxy, which are not asked here");
        Finding::warning(code, Part::Network, evidence)
    } else {
        Finding::cause(code, Part::Network, evidence)
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            super::{samples::Sample, testing::Machine},
            reported,
        },
        *,
    };

    #[test]
    fn what_a_reply_comes_to() {
        let image = Image::parse(super::super::super::samples::OS).unwrap();
        let text: Vec<String> = [
            (Reply::Has, false),
            (Reply::Lacks, false),
            (Reply::Denies("it answers 403".into()), false),
            (Reply::Silent("connection refused".into()), true),
        ]
        .into_iter()
        .map(|(reply, detour)| match evaluate(&image, reply, detour) {
            None => "nothing".to_owned(),
            Some(found) => format!("{:?} {} {}", found.kind, found.id(), found.evidence),
        })
        .collect();
        insta::assert_snapshot!(text.join("\n"));
    }

    #[tokio::test]
    async fn without_a_ca_nobody_can_be_asked() {
        let machine = Machine::default();
        machine.fetched(&Sample::default().served());
        let text = reported(&CHECK, &machine).await;
        assert_eq!(text.matches("Cause BS-IPB-046").count(), 2, "{text}");
        machine.write(DETOURS[0], "# mirror\n");
        assert!(reported(&CHECK, &machine).await.contains("Cause"));
        machine.write(DETOURS[0], "[[registry.mirror]]\n");
        let text = reported(&CHECK, &machine).await;
        assert_eq!(text.matches("Warning BS-IPB-046").count(), 2, "{text}");
        assert!(!text.contains("hunter2"));
    }
}
