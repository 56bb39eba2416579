//! `cargo xtask bench cluster`: how fast machines become a cluster, beside kubeadm.

use crate::{
    machine,
    run::{part, run},
};

/// `options` go to the benchmark.
pub(crate) fn cluster(options: &[&str]) -> Result<(), String> {
    if !machine::is_root() {
        return Err("this benchmark boots machines: run it as root".into());
    }
    part("what the benchmark needs", || machine::ensure(machine::TESTS))?;
    part("bench", || {
        let bench = ["bench", "--workspace", "--bench", "cluster", "--locked", "--"];
        run("cargo", &[bench.as_slice(), options].concat())
    })
}
