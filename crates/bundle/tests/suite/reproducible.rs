//! The same version, built twice from source with nothing in common, gives the same sums.
//!
//! Needs `go` and a module proxy. The smallest component that is built by `go` stands for all: they share every flag.

use bundle::{Manifest, SourceKind};

use crate::support::make;

#[test]
fn a_go_component_built_twice_has_the_same_sums() {
    let manifests = [(); 2].map(|()| {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("bundle");
        let made = make()
            .arg(&out)
            .args(["--go", "--only", "cni-plugins", "--cache"])
            .arg(dir.path().join("cache"))
            // Compiled again each time: what `go` remembers from another build would prove nothing.
            .env("GOCACHE", dir.path().join("go-build"))
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Manifest::read(&out).unwrap()
    });
    assert_eq!(manifests[0], manifests[1]);
    assert_eq!(manifests[0].components[0].source, SourceKind::GoModules);
}
