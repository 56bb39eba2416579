//! What is reported of machines of all kinds.

use std::path::PathBuf;

use engine::StepError;
use nodekit::package_manager::Manager;

use super::{
    super::{Goal, os::Os, survey::Cpu},
    *,
};

const GIB: u64 = 1 << 20;

fn good() -> Survey {
    Survey {
        os: Os {
            id: "ubuntu".into(),
            like: vec!["debian".into()],
            pretty: "Ubuntu 24.04.1 LTS".into(),
            codename: "noble".into(),
        },
        manager: Some(Manager::Apt),
        architecture: Some("x86_64".into()),
        memory: Some(16 * GIB),
        free: Some(100 * GIB),
        cpu: Some(Cpu { vendor: "GenuineIntel".into(), family: 6, model: 0x9E, name: "Core i7-8700".into() }),
        kernel: "6.8.0-45-generic".into(),
        missing: vec!["open-iscsi"],
        has_gpu: true,
        ..Survey::default()
    }
}

fn iscsi() -> Task {
    Task { packages: None, goal: Goal::Iscsi { with_nfs: false } }
}

fn gpu() -> Task {
    Task { packages: None, goal: Goal::Gpu { even_without_gpu: false, add_non_free: false } }
}

fn reported(survey: &Survey, task: &Task, ended: Option<&engine::Report>) -> String {
    let requirements = all(&Facts { survey, task, ended });
    requirements.iter().map(|found| format!("  {:?} {}: {}\n", found.verdict, found.name, found.detail)).collect()
}

#[test]
fn machines_of_all_kinds() {
    let small = Survey {
        os: Os { id: "fedora".into(), pretty: "Fedora Linux 41".into(), ..Os::default() },
        manager: Some(Manager::Dnf),
        architecture: Some("aarch64".into()),
        memory: Some(2 * GIB),
        free: Some(GIB / 20),
        cpu: Some(Cpu { vendor: "GenuineIntel".into(), family: 6, model: 0x3C, name: "Core i5-4590".into() }),
        kernel: "4.19.0".into(),
        ..good()
    };
    let mint = Os { id: "linuxmint".into(), pretty: "Linux Mint 22".into(), ..good().os };
    let mut text = String::new();
    for (case, survey, task) in [
        ("a good machine", good(), iscsi()),
        ("a good machine with a GPU", good(), gpu()),
        ("one without a GPU", Survey { has_gpu: false, ..good() }, gpu()),
        ("one of another kind without a GPU", Survey { has_gpu: false, ..small.clone() }, gpu()),
        ("an untested distribution", Survey { os: mint, ..good() }, iscsi()),
        ("a small one", small.clone(), iscsi()),
        ("a small one with a GPU", small, gpu()),
        ("one of which nothing is known", Survey::default(), gpu()),
    ] {
        text += &format!("{case}:\n{}", reported(&survey, &task, None));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_source_is_evaluated_by_what_came_of_it() {
    let line = |survey: &Survey, task: &Task, ended: Option<&engine::Report>| {
        let lines = reported(survey, task, ended);
        lines.lines().find(|line| line.contains("package-source")).unwrap_or_default().to_owned()
    };
    let verified = engine::Report { verified: vec!["packages".into()], ..engine::Report::default() };
    let failed = |code, message: &str| {
        let error = StepError::new(code, message);
        engine::Report { failed: vec![StepFailure { step: "packages".into(), error }], ..engine::Report::default() }
    };
    let from = |count| Survey { in_directory: Some(count), ..good() };
    let offline = Task { packages: Some(PathBuf::from("/mnt/debs")), ..iscsi() };
    let all = [
        line(&good(), &iscsi(), None),
        line(&good(), &iscsi(), Some(&verified)),
        line(
            &good(),
            &iscsi(),
            Some(&failed(nodekit::codes::PACKAGES_UNREACHABLE, "cannot fetch open-iscsi: Could not connect")),
        ),
        line(&good(), &iscsi(), Some(&failed(nodekit::codes::PACKAGES_BUSY, "process 7 keeps it"))),
        line(&Survey { missing: Vec::new(), ..good() }, &iscsi(), Some(&verified)),
        line(&from(12), &offline, None),
        line(&from(0), &offline, None),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn generations() {
    for (vendor, family, model, expected) in [
        ("GenuineIntel", 6, 0x4E, Verdict::Met),     // Skylake
        ("GenuineIntel", 6, 0x5C, Verdict::Met),     // Apollo Lake
        ("GenuineIntel", 6, 0x97, Verdict::Met),     // Alder Lake
        ("GenuineIntel", 6, 0xAA, Verdict::Met),     // Meteor Lake
        ("GenuineIntel", 18, 1, Verdict::Met),       // Nova Lake
        ("GenuineIntel", 6, 0x3D, Verdict::Warning), // Broadwell
        ("GenuineIntel", 6, 0x56, Verdict::Warning), // Broadwell-D
        ("GenuineIntel", 6, 0x2A, Verdict::Warning), // Sandy Bridge
        ("GenuineIntel", 15, 4, Verdict::Warning),   // Pentium 4
        ("AuthenticAMD", 25, 33, Verdict::Warning),
    ] {
        let cpu = Cpu { vendor: vendor.into(), family, model, name: String::new() };
        let survey = Survey { cpu: Some(cpu), ..good() };
        let task = gpu();
        let found = all(&Facts { survey: &survey, task: &task, ended: None });
        let found = found.into_iter().find(|found| found.name == "cpu-generation").unwrap();
        assert_eq!(found.verdict, expected, "{vendor} {family} {model:#x}: {}", found.detail);
    }
}
