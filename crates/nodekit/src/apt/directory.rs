//! A directory of `.deb` files as a source of packages, for machines without a mirror.
//!
//! apt installs what it is asked for and what that needs, from a list of what there is. So the directory gets such a list;
//! it is made of what the packages say of themselves, lies with our own state, and the directory stays as it is: it may be
//! a medium that cannot be written to. The machine's own sources and lists are neither asked nor touched.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

use engine::StepError;
use host::{Change, Cmd, Content, Host, create_dir_all, write_atomic};

use super::in_english;
use crate::{cleanup::tree, codes};

/// What packages end with.
const SUFFIX: &str = ".deb";
/// Under this name the directory is seen from the list.
const LINK: &str = "packages";

/// A directory of packages, ready to be asked.
#[derive(Debug)]
pub struct Directory {
    dir: PathBuf,
    /// Where list and links are.
    work: PathBuf,
}

impl Directory {
    /// Lists what is in `dir`; the list is kept in `work`, which is ours alone.
    pub async fn open(host: &Host, dir: &Path, work: &Path) -> Result<Self, StepError> {
        let this = Self { dir: dir.to_path_buf(), work: work.to_path_buf() };
        let disk = &*host.disk;
        let names = if disk.exists(dir)? { disk.list(dir)? } else { Vec::new() };
        let files: Vec<String> = names.into_iter().filter(|name| name.ends_with(SUFFIX)).collect();
        if files.is_empty() {
            return Err(this.lacks("no file in it ends with .deb"));
        }
        host.doing(format!("listing {} in {}", explain::counted(files.len(), "package"), dir.display()));
        let mut list = String::new();
        for file in &files {
            list += &paragraph(host, dir, file).await?;
        }
        this.close(host)?;
        create_dir_all(disk, &work.join("lists/partial"), 0o755)?;
        Change::Link { path: work.join(LINK), target: dir.to_path_buf() }.apply(disk)?;
        write_atomic(disk, &work.join("Packages"), list.as_bytes(), 0o644)?;
        // A list that was made a moment ago has no signature; a user who may give us a directory may also install packages.
        let source = format!("deb [trusted=yes] file:{} ./\n", work.display());
        let content = Content::Plain(source.into_bytes());
        Change::File { path: work.join("sources.list"), mode: 0o644, content }.apply(disk)?;
        Ok(this)
    }

    /// Forgets the list.
    pub fn close(&self, host: &Host) -> Result<(), StepError> {
        Ok(tree::remove(&*host.disk, &self.work)?)
    }

    /// Options by which apt asks this list and no other.
    pub(super) fn options(&self) -> Vec<String> {
        let work = self.work.display();
        vec![
            format!("--option=Dir::Etc::SourceList={work}/sources.list"),
            "--option=Dir::Etc::SourceParts=-".to_owned(),
            format!("--option=Dir::State::Lists={work}/lists"),
            // What apt remembers between two calls is of the other sources.
            "--option=Dir::Cache::pkgcache=".to_owned(),
            "--option=Dir::Cache::srcpkgcache=".to_owned(),
            // Its own user may not look into our directory.
            "--option=APT::Sandbox::User=root".to_owned(),
        ]
    }

    pub(super) fn lacks(&self, what: &str) -> StepError {
        StepError::new(codes::NOT_IN_DIRECTORY, format!("{} does not have what is needed: {what}", self.dir.display()))
    }
}

/// What a list says of one package: its own words, where it is, and how it is known to be whole.
async fn paragraph(host: &Host, dir: &Path, file: &str) -> Result<String, StepError> {
    let path = dir.join(file);
    let damaged = |error: host::CommandError| {
        StepError::new(codes::NOT_IN_DIRECTORY, format!("{} is not a package", path.display())).with_source(error)
    };
    let fields = in_english(Cmd::new("dpkg-deb").arg("--field").arg(path.clone()));
    let control = host.commands.run(&fields).await.map_err(damaged)?.stdout;
    let sum = host.commands.run(&Cmd::new("sha256sum").arg(path.clone())).await.map_err(damaged)?.stdout;
    let sum = sum.split_whitespace().next().unwrap_or_default().trim_start_matches('\\');
    let size = host.disk.meta(&path)?.map_or(0, |meta| meta.len);
    Ok(entry(&control, file, size, sum))
}

fn entry(control: &str, file: &str, size: u64, sum: &str) -> String {
    let mut text = control.trim_end().to_owned();
    let _ = write!(text, "\nFilename: ./{LINK}/{file}\nSize: {size}\nSHA256: {sum}\n\n");
    text
}

#[cfg(test)]
mod tests {
    use std::{fs, sync::Arc};

    use explain::Explain;
    use host::{Commands, Printed, Running};

    use super::*;

    struct Deb;
    impl Commands for Deb {
        fn run<'a>(&'a self, command: &'a Cmd) -> Running<'a> {
            let shown = command.to_string();
            let stdout = if shown.starts_with("dpkg-deb") {
                "Package: open-iscsi\nVersion: 2.1.8-1\nDescription: a\n b\n".to_owned()
            } else {
                "0123abcd  /mnt/a.deb\n".to_owned()
            };
            Box::pin(async move { Ok(Printed { stdout, ..Printed::default() }) })
        }
    }

    #[tokio::test]
    async fn a_directory_gets_a_list_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let host = Host { commands: Arc::new(Deb), ..Host::rooted(root.path()) };
        let (dir, work) = (Path::new("/mnt"), Path::new("/var/lib/x/offline"));
        let missing = Directory::open(&host, dir, work).await.unwrap_err();
        assert_eq!(missing.code(), codes::NOT_IN_DIRECTORY);

        fs::create_dir_all(root.path().join("mnt")).unwrap();
        fs::write(root.path().join("mnt/readme.txt"), "").unwrap();
        fs::write(root.path().join("mnt/open-iscsi_2.1.8-1_amd64.deb"), "12345").unwrap();
        let directory = Directory::open(&host, dir, work).await.unwrap();
        let read = |name: &str| fs::read_to_string(root.path().join("var/lib/x/offline").join(name)).unwrap();
        let reported = format!("{}\n{}\n{}", read("sources.list"), read("Packages"), directory.options().join("\n"));
        insta::assert_snapshot!(reported);

        directory.close(&host).unwrap();
        directory.close(&host).unwrap();
        assert!(!root.path().join("var/lib/x/offline").exists());
    }
}
