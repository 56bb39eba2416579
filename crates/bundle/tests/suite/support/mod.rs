//! What the tests have in common.

pub(crate) mod publisher;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex},
};

use bundle::{Builder, BundleError, Cache, Mirror, Sources, Stop, Update};
use publisher::Publisher;

/// A builder that downloads from a publisher of ours, and what it reported.
pub(crate) fn builder(cache: &Path, publisher: &Publisher) -> (Builder, Arc<Mutex<Vec<String>>>) {
    let sources =
        Sources { given: None, release: Some(Mirror { address: Some(publisher.address()) }), go_modules: false };
    let reported = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&reported);
    let progress = move |update: &Update<'_>| {
        sink.lock().unwrap().push(format!("{} {:?}", update.component, update.state));
    };
    let cache = Cache::at(cache);
    (Builder { cache, sources, install_tools: false, stop: Stop::default(), progress: Arc::new(progress) }, reported)
}

/// The example program that makes a bundle.
pub(crate) fn make() -> Command {
    let test = std::env::current_exe().unwrap();
    let target = test.parent().and_then(Path::parent).unwrap();
    Command::new(target.join("examples/make"))
}

/// A static program that prints a line.
pub(crate) fn static_program(dir: &Path, name: &str, says: &str) -> PathBuf {
    let (source, program) = (dir.join(format!("{name}.c")), dir.join(name));
    fs::write(&source, format!("#include <stdio.h>\nint main(void) {{ puts(\"{says}\"); return 0; }}\n")).unwrap();
    let built = Command::new("gcc").args(["-static", "-s", "-o"]).args([&program, &source]).status().unwrap();
    assert!(built.success());
    fs::remove_file(source).unwrap();
    program
}

/// A script that prints a line.
pub(crate) fn script(says: &str) -> Vec<u8> {
    format!("#!/bin/sh\necho '{says}'\n").into_bytes()
}

/// Writes an executable file and the directories above it.
pub(crate) fn write_program(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Everything in a directory with its mode and content, hidden files too.
pub(crate) fn tree(dir: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let mut found = Vec::new();
    let mut queue = vec![dir.to_path_buf()];
    while let Some(next) = queue.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                queue.push(path);
            } else {
                let mode = fs::metadata(&path).unwrap().permissions().mode();
                found.push((path.strip_prefix(dir).unwrap().to_path_buf(), mode, fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// Every problem as `CODE message`, or the one error.
pub(crate) fn reported(error: &BundleError) -> Vec<String> {
    match error {
        BundleError::Unsound(problems) => problems.iter().map(|it| format!("{} {it}", it.code())).collect(),
        other => vec![format!("{} {}", explain::Explain::code(other), explain::chain(other))],
    }
}
