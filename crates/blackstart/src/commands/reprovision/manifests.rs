//! `blackstart reprovision manifests`: what `infrastructure/in-place` holds, for those who have only the program.

use crate::{
    context::{Context, Ended},
    output::print,
};

/// In the order in which they are applied.
const MANIFESTS: [&str; 6] = [
    include_str!("../../../../../infrastructure/in-place/namespace.yaml"),
    include_str!("../../../../../infrastructure/in-place/crds.yaml"),
    include_str!("../../../../../infrastructure/in-place/rbac.yaml"),
    include_str!("../../../../../infrastructure/in-place/policies.yaml"),
    include_str!("../../../../../infrastructure/in-place/daemonset.yaml"),
    include_str!("../../../../../infrastructure/in-place/controller.yaml"),
];

pub(super) fn run(_context: &Context) -> Result<(), Ended> {
    Ok(print(MANIFESTS.join("---\n").as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_kustomization_is_missing() {
        let kustomization = include_str!("../../../../../infrastructure/in-place/kustomization.yaml");
        let named = kustomization.lines().filter(|line| line.trim().starts_with("- ") && line.contains(".yaml"));
        assert_eq!(named.count(), MANIFESTS.len());
    }
}
