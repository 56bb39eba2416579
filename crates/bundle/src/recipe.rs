//! What decides the content of a component's files: if a recipe is the same, so are the files. The cache's key.
//!
//! Pure. The commands that build are made from the same functions, so that a changed flag is a changed recipe.

use serde::{Deserialize, Serialize};

use crate::{
    Component, SourceKind, Sum,
    component::{Arch, Build, Go},
    table,
};

/// Everything that goes into a component's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    component: String,
    version: String,
    arch: String,
    source: SourceKind,
    inputs: Vec<String>,
}

impl Recipe {
    /// A component as its publisher offers it, if it is offered.
    pub fn release(component: &Component, arch: Arch) -> Option<Self> {
        let release = component.release?;
        let downloads = component.programs.iter().map(|program| release.addresses(component, program, arch).0);
        let compiled = match component.build {
            Build::C(_) => c_flags(component),
            Build::Go(_) => Vec::new(),
        };
        Some(Self::new(component, arch, SourceKind::Release, downloads.chain(compiled).collect()))
    }

    /// A component built from Go modules.
    pub fn go_modules(component: &Component, arch: Arch) -> Self {
        let mut inputs = Vec::new();
        match &component.build {
            Build::Go(go) => {
                inputs.push(format!("go {}", table::GO));
                inputs.extend(go.modules.iter().map(|module| format!("{module}@v{}", component.version)));
                inputs.extend(go_environment(go, arch).into_iter().map(|(name, value)| format!("{name}={value}")));
                inputs.extend(go_flags(component, go, arch));
                inputs.extend(component.programs.iter().map(|program| program.package.to_owned()));
            }
            Build::C(c) => {
                inputs.push(format!("{}@v{}/{}", c.module, c.version, c.file));
                inputs.extend(c_flags(component));
            }
        }
        Self::new(component, arch, SourceKind::GoModules, inputs)
    }

    fn new(component: &Component, arch: Arch, source: SourceKind, inputs: Vec<String>) -> Self {
        let (name, version) = (component.name.to_owned(), component.version.to_owned());
        Self { component: name, version, arch: arch.name().to_owned(), source, inputs }
    }

    /// Where the files come from.
    pub fn source(&self) -> SourceKind {
        self.source
    }

    /// A name for the recipe that is as long as needed to be the only one.
    pub(crate) fn key(&self) -> String {
        let Self { component, version, arch, source, inputs } = self;
        let text = format!("{component}\n{version}\n{arch}\n{}\n{}", source.as_str(), inputs.join("\n"));
        Sum::of(text.as_bytes()).as_str()[..24].to_owned()
    }
}

/// The variables that `go` reads and that change what it makes. What a user has set for himself must not.
pub(crate) fn go_environment(go: &Go, arch: Arch) -> Vec<(&'static str, &'static str)> {
    vec![
        ("CGO_ENABLED", if go.cgo { "1" } else { "0" }),
        ("GOOS", "linux"),
        ("GOARCH", arch.name()),
        ("GOAMD64", "v1"),
        ("GOARM64", "v8.0"),
        ("GOEXPERIMENT", ""),
        ("GOFLAGS", "-mod=mod"),
        ("GOWORK", "off"),
        ("CGO_CFLAGS", "-O2"),
        ("CGO_LDFLAGS", ""),
    ]
}

/// The flags of `go build`.
pub(crate) fn go_flags(component: &Component, go: &Go, arch: Arch) -> Vec<String> {
    let mut linker = vec!["-s".to_owned(), "-w".to_owned()];
    linker.extend(go.variables.iter().map(|variable| format!("-X {}", component.fill(variable, arch))));
    if go.cgo {
        linker.push("-extldflags -static".to_owned());
    }
    let mut flags = vec!["-trimpath".to_owned(), "-buildvcs=false".to_owned()];
    if !go.tags.is_empty() {
        flags.push(format!("-tags={}", go.tags.join(",")));
    }
    flags.push(format!("-ldflags={}", linker.join(" ")));
    flags
}

/// The flags of the C compiler.
pub(crate) fn c_flags(component: &Component) -> Vec<String> {
    let version = format!("-DVERSION=v{}", component.version);
    ["-Os", "-Wall", "-static", "-s"].map(str::to_owned).into_iter().chain([version]).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn how_each_component_is_built() {
        let arch = Arch::AMD64;
        let page: Vec<_> = table::COMPONENTS
            .iter()
            .map(|component| {
                let recipe = Recipe::go_modules(component, arch);
                format!("== {} {}\n{}", component.name, component.version, recipe.inputs.join("\n"))
            })
            .collect();
        insta::assert_snapshot!(table::without_versions(&page.join("\n")));
    }

    #[test]
    fn every_change_of_a_row_changes_the_key() {
        let arch = Arch::AMD64;
        let row = Component::named("containerd").unwrap();
        let Build::Go(go) = row.build else { panic!("containerd is written in Go") };
        let rows = [
            *row,
            Component { version: "2.4.3", ..*row },
            Component { programs: &row.programs[..2], ..*row },
            Component { build: Build::Go(Go { cgo: true, ..go }), ..*row },
            Component { build: Build::Go(Go { tags: &["no_cri"], ..go }), ..*row },
            Component { build: Build::Go(Go { variables: &[], ..go }), ..*row },
        ];
        let keys: BTreeSet<_> = rows.iter().map(|row| Recipe::go_modules(row, arch).key()).collect();
        assert_eq!(keys.len(), rows.len());
        assert!(!keys.contains(&Recipe::release(row, arch).unwrap().key()));
    }

    #[test]
    fn every_go_program_is_in_a_module_of_its_row() {
        for component in table::COMPONENTS {
            let Build::Go(go) = component.build else { continue };
            for program in component.programs {
                assert!(go.modules.iter().any(|module| program.package.starts_with(module)), "{}", program.name);
            }
        }
    }
}
