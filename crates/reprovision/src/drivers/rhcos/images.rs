//! Which images a payload is about: the machine-config-daemon's, which runs, and the system's, which is booted.
//!
//! No release is named in a payload. The first stands between single quotes in `ExecStart` of the units by which a machine
//! does this at its first boot, the second in the `MachineConfig`. Each is named in two places, and they must agree.

use std::fmt;

use serde_json::Value;

use super::{machine_config::list, payload::Payload, problem::Problem};
use crate::codes::{IMAGES_DISAGREE, NO_IMAGE, NOT_A_DIGEST};

const UNITS: [&str; 2] = ["machine-config-daemon-pull.service", "machine-config-daemon-firstboot.service"];
const ALGORITHM: &str = "@sha256:";

/// An image by its digest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Image {
    /// `quay.io`, `registry.lab:5000`.
    pub(super) registry: String,
    /// `openshift/release`.
    pub(super) repository: String,
    /// `sha256:…`.
    pub(super) digest: String,
}

/// Both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Images {
    /// It has the machine-config-daemon.
    pub(super) mco: Image,
    /// The system.
    pub(super) os: Image,
}

impl Image {
    /// From `REGISTRY/REPOSITORY@sha256:…`. What is not whole, is refused.
    pub(super) fn parse(name: &str) -> Result<Self, Problem> {
        let bad = |what: &str| Problem::new(NOT_A_DIGEST, format!("image `{name}` {what}"));
        let (path, digest) = name.split_once(ALGORITHM).ok_or_else(|| bad("is not named by a digest (`@sha256:`)"))?;
        if digest.len() != 64 || !digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(bad("has a digest that is not 64 hexadecimal digits"));
        }
        let (registry, repository) = path.split_once('/').ok_or_else(|| bad("does not name its registry"))?;
        // A tag beside a digest says nothing.
        let repository = repository.split_once(':').map_or(repository, |(repository, _tag)| repository);
        let is_host = registry.contains(['.', ':']) || registry == "localhost";
        let is_name = |text: &str| {
            !text.is_empty()
                && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/' | ':'))
        };
        if !is_host || !is_name(registry) || !is_name(repository) {
            return Err(bad("does not name its registry"));
        }
        Ok(Self {
            registry: registry.to_owned(),
            repository: repository.to_owned(),
            digest: format!("sha256:{digest}"),
        })
    }

    /// The first digits of its digest.
    pub(super) fn short(&self) -> &str {
        self.digest.get("sha256:".len()..).and_then(|digits| digits.get(..12)).unwrap_or(&self.digest)
    }
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}@{}", self.registry, self.repository, self.digest)
    }
}

impl Images {
    /// What a payload is about.
    pub(super) fn find(payload: &Payload) -> Result<Self, Vec<Problem>> {
        let started = payload.units().iter().chain(payload.full.units()).flat_map(started);
        let mco = agreed("the machine-config-daemon", "ExecStart of its units", started.collect());
        let system = [Some(&payload.full), payload.encapsulated.as_ref()].into_iter().flatten();
        let system = system.map(|config| config.spec().os_image_url.clone()).collect();
        let os = agreed("the system", "osImageURL", system);
        match (mco, os) {
            (Ok(mco), Ok(os)) => Ok(Self { mco, os }),
            (mco, os) => Err(mco.err().into_iter().chain(os.err()).collect()),
        }
    }
}

/// The one image that all of these names are.
fn agreed(whose: &str, place: &str, names: Vec<String>) -> Result<Image, Problem> {
    let mut names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
    names.sort();
    names.dedup();
    match names.as_slice() {
        [] => Err(Problem::new(NO_IMAGE, format!("the payload names no image of {whose}: {place} has none"))),
        [name] => Image::parse(name),
        several => {
            Err(Problem::new(IMAGES_DISAGREE, format!("images of {whose} in {place} disagree: {}", several.join(", "))))
        }
    }
}

/// What stands between single quotes in a unit's `ExecStart`, and can be the name of an image.
fn started(unit: &Value) -> Vec<String> {
    let text = |field| unit.get(field).and_then(Value::as_str).unwrap_or_default();
    if !UNITS.contains(&text("name")) {
        return Vec::new();
    }
    let dropins = list(unit, "/dropins").iter().filter_map(|dropin| dropin.get("contents")?.as_str());
    let contents = [text("contents")].into_iter().chain(dropins);
    let lines = contents.flat_map(|contents| contents.lines().map(str::trim));
    let commands = lines.filter_map(|line| line.strip_prefix("ExecStart="));
    let quoted = commands.flat_map(|command| command.split('\'').skip(1).step_by(2));
    quoted.filter(|word| is_image(word)).map(str::to_owned).collect()
}

/// Not an argument of a shell, and not a path.
fn is_image(word: &str) -> bool {
    word.contains('/') && !word.starts_with('/') && !word.contains(|c: char| c.is_whitespace() || c == '=')
}

#[cfg(test)]
mod tests {
    use super::{
        super::samples::{MCO, OS, Sample},
        *,
    };

    #[test]
    fn both_are_found_in_what_is_served() {
        let images = Images::find(&Payload::parse(&Sample::default().served()).unwrap()).unwrap();
        assert_eq!((images.mco.to_string(), images.os.to_string()), (MCO.to_owned(), OS.to_owned()));
        assert_eq!(images.os.short(), "222222222222");
    }

    #[test]
    fn what_is_missing_or_disagrees_is_refused() {
        let other = MCO.replace('1', "3");
        let cases = [
            ("a tag", Sample { mco: "quay.io/mco:4.20".into(), ..Sample::default() }),
            ("no registry", Sample { mco: "mco/mco@sha256:11".replace("11", &"1".repeat(64)), ..Sample::default() }),
            ("a short digest", Sample { os: "quay.io/os@sha256:12".into(), ..Sample::default() }),
            ("nothing in the units", Sample { mco: String::new(), ..Sample::default() }),
            ("two in the units", Sample { first_boot: Some(other), ..Sample::default() }),
            (
                "only one names a system",
                Sample { encapsulated_os: Some(MCO.into()), os: String::new(), ..Sample::default() },
            ),
            ("two systems that differ", Sample { encapsulated_os: Some(MCO.into()), ..Sample::default() }),
        ];
        let mut reported = String::new();
        for (case, sample) in cases {
            let found = Images::find(&Payload::parse(&sample.served()).unwrap());
            let lines = match found {
                Ok(images) => format!("  {} {}\n", images.mco, images.os),
                Err(problems) => problems.iter().map(|one| format!("  {} {}\n", one.code, one.text)).collect(),
            };
            reported += &format!("{case}:\n{lines}");
        }
        insta::assert_snapshot!(reported);
    }

    #[test]
    fn each_form_of_the_units_is_read() {
        let pull = format!(
            r#"ExecStart=/bin/sh -c "while ! /usr/bin/podman pull $(cat /tmp/args) --authfile=/x '{MCO}'; do sleep 1; done""#
        );
        let run = format!(
            "ExecStart=/usr/bin/podman run --rm -v /:/rootfs --entrypoint machine-config-daemon '{MCO}' firstboot"
        );
        let sed = r#"ExecStart=-/usr/bin/sh -c "sed -i 's/enabled=1/enabled=0/' /etc/yum.repos.d/*.repo""#;
        for (line, found) in [(pull.as_str(), 1), (&run, 1), (sed, 0), ("ExecStart=/usr/bin/ln -s a b", 0)] {
            let unit = serde_json::json!({"name": UNITS[0], "contents": format!("[Service]\n{line}\n")});
            assert_eq!(started(&unit).len(), found, "{line}");
        }
    }
}
