//! What a row of the [table](crate::table) says about a component.
//!
//! In its texts, braces stand for facts: `{version}` and its parts `{major}` and `{minor}`; `{source}`, the version of
//! the source code where that is another one; `{arch}`, the processor; `{program}` and `{asset}`, file names.

use crate::BundleError;

/// One component: what is versioned, fetched and cached as a whole.
#[derive(Debug, Clone, Copy)]
pub struct Component {
    /// Its name on the command line and in the manifest.
    pub name: &'static str,
    /// Without a leading `v`.
    pub version: &'static str,
    /// Only part of a bundle when asked for.
    pub extra: bool,
    /// How it lies in the bundle.
    pub shape: Shape,
    /// Its files, as they come from a source.
    pub programs: &'static [Program],
    /// Where its publisher offers it, if programs are offered at all.
    pub release: Option<Release>,
    /// How it is made from source.
    pub build: Build,
}

/// How a component lies in the bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Its programs as files in this directory.
    Programs {
        /// Below the bundle's root.
        dir: &'static str,
    },
    /// Its one program as an image that holds nothing else.
    Image {
        /// Who runs it, `uid:gid`; root by default.
        user: Option<&'static str>,
    },
}

/// An executable file.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// Its file name.
    pub name: &'static str,
    /// Its Go package, where it is written in Go.
    pub package: &'static str,
    /// The arguments that make it print its version.
    pub ask: &'static [&'static str],
}

/// Where a publisher offers a component, with its checksum.
#[derive(Debug, Clone, Copy)]
pub struct Release {
    /// The address above the files.
    pub base: &'static str,
    /// The file to download.
    pub asset: &'static str,
    /// The file with its checksum.
    pub sums: &'static str,
    /// Where a program, or its source, is inside the file; `None` where the file is the program.
    pub member: Option<&'static str>,
}

/// How a component is made from source.
#[derive(Debug, Clone, Copy)]
pub enum Build {
    /// By the `go` command.
    Go(Go),
    /// By a C compiler.
    C(C),
}

/// A build by the `go` command.
#[derive(Debug, Clone, Copy)]
pub struct Go {
    /// The modules that hold the programs, all of the component's version.
    pub modules: &'static [&'static str],
    /// Parts of the module are published as modules of their own, with major version 0.
    pub staging: bool,
    /// Build tags.
    pub tags: &'static [&'static str],
    /// String variables set by the linker, `package.name=value`.
    pub variables: &'static [&'static str],
    /// True where C code is part of it.
    pub cgo: bool,
    /// What that C code is linked with.
    pub libraries: &'static [Library],
}

/// A C library.
#[derive(Debug, Clone, Copy)]
pub struct Library {
    /// As `pkg-config` calls it.
    pub name: &'static str,
    /// The Debian package that has it.
    pub package: &'static str,
}

/// A build of one C file that is published inside a Go module.
#[derive(Debug, Clone, Copy)]
pub struct C {
    /// The module.
    pub module: &'static str,
    /// Its version, without a leading `v`.
    pub version: &'static str,
    /// The file inside it.
    pub file: &'static str,
}

/// A processor that components exist for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arch(&'static str);

impl Arch {
    /// Processors of Intel and AMD.
    pub const AMD64: Self = Self("amd64");
    /// Processors of ARM, 64 bit.
    pub const ARM64: Self = Self("arm64");

    /// Of this machine.
    pub fn of_this_machine() -> Result<Self, BundleError> {
        match std::env::consts::ARCH {
            "x86_64" => Ok(Self::AMD64),
            "aarch64" => Ok(Self::ARM64),
            other => Err(BundleError::Platform { arch: other }),
        }
    }

    /// As Go and the publishers call it.
    pub fn name(self) -> &'static str {
        self.0
    }
}

/// A program and how to ask for its version.
pub(crate) const fn program(name: &'static str, package: &'static str, ask: &'static [&'static str]) -> Program {
    Program { name, package, ask }
}

impl Component {
    /// Puts the facts of this component into a text of its row.
    pub(crate) fn fill(&self, text: &str, arch: Arch) -> String {
        let mut parts = self.version.split('.');
        let (major, minor) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let source = match self.build {
            Build::C(c) => c.version,
            Build::Go(_) => self.version,
        };
        text.replace("{version}", self.version)
            .replace("{source}", source)
            .replace("{major}", major)
            .replace("{minor}", minor)
            .replace("{arch}", arch.name())
    }
}

impl Release {
    /// The address of the download for a program, and that of its checksum.
    pub(crate) fn addresses(&self, component: &Component, program: &Program, arch: Arch) -> (String, String) {
        let fill = |text: &str| component.fill(text, arch).replace("{program}", program.name);
        let (base, asset) = (fill(self.base), fill(self.asset));
        let sums = fill(self.sums).replace("{asset}", &asset);
        (format!("{base}/{asset}"), format!("{base}/{sums}"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::table;

    #[test]
    fn the_published_addresses() {
        let arch = Arch::AMD64;
        let mut page = Vec::new();
        for component in table::COMPONENTS {
            let downloads: BTreeSet<_> = component
                .programs
                .iter()
                .filter_map(|program| Some(component.release?.addresses(component, program, arch)))
                .collect();
            for (asset, sums) in downloads {
                page.push(format!("{} {}\n  {asset}\n  {sums}", component.name, component.version));
            }
        }
        insta::assert_snapshot!(table::without_versions(&page.join("\n")));
    }

    #[test]
    fn no_name_is_used_twice() {
        let names = || table::COMPONENTS.iter().map(|component| component.name);
        assert_eq!(names().collect::<BTreeSet<_>>().len(), names().count());
        let programs = || table::COMPONENTS.iter().flat_map(|component| component.programs).map(|program| program.name);
        assert_eq!(programs().collect::<BTreeSet<_>>().len(), programs().count());
    }

    #[test]
    fn an_image_has_one_program() {
        for component in table::COMPONENTS {
            let image = matches!(component.shape, Shape::Image { .. });
            assert!(!image || component.programs.len() == 1, "{}", component.name);
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = Component::named("kubelt").unwrap_err();
        assert!(error.to_string().contains("kubelet"), "{error}");
    }
}
