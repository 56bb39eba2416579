//! The network add-on and its manifest belong together.

use crate::{
    codes,
    draft::Draft,
    problems::{Finding, Problems},
    values::AddOnKind,
};

pub(super) fn manifest_fits(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let Some(section) = &draft.cluster.networking else { return };
    match (&section.add_on, &section.manifest) {
        // What is not there may have been misspelt.
        (Some(add_on), None) if section.clean && add_on.value == AddOnKind::Manifest => {
            let message = "`add_on: manifest` needs the path of the manifest";
            let hint = "add `manifest: PATH` beside it".to_owned();
            problems.push(Finding::error(codes::ADD_ON_MANIFEST, add_on.location, message).hint(hint));
        }
        (Some(add_on), Some(manifest)) if add_on.value != AddOnKind::Manifest => {
            let finding = Finding::error(codes::ADD_ON_MANIFEST, manifest.location, "this manifest would not be used");
            problems.push(finding.also(add_on.location, "another add-on is chosen here"));
        }
        (None, Some(manifest)) if section.clean => {
            let message = "this manifest would not be used: the add-on is `basic` by default";
            let hint = "add `add_on: manifest` beside it".to_owned();
            problems.push(Finding::error(codes::ADD_ON_MANIFEST, manifest.location, message).hint(hint));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::{codes_of, some_nodes};

    #[test]
    fn add_ons() {
        for (settings, expected) in [
            ("add_on: basic", vec![]),
            ("add_on: none", vec![]),
            ("add_on: manifest, manifest: calico.yaml", vec![]),
            ("add_on: manifest", vec!["BS-SPEC-047"]),
            ("manifest: calico.yaml", vec!["BS-SPEC-047"]),
            ("add_on: none, manifest: calico.yaml", vec!["BS-SPEC-047"]),
            ("add_on: manifest, manifest: ''", vec!["BS-SPEC-030"]),
        ] {
            let settings = format!("  networking: {{{settings}}}\n");
            assert_eq!(codes_of(&settings, &some_nodes(0)), expected, "{settings}");
        }
    }
}
