//! An OCI image that holds one static program, and links to it where it has several names, as an archive that
//! `ctr images import` takes.
//!
//! Written by hand because it is three small JSON texts and one layer. The layer is not compressed: a packed bundle is
//! compressed as a whole, and better. Times are zero and entries are in a fixed order, so the same program gives the
//! same bytes.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, BufWriter, Write},
    path::Path,
};

use serde_json::{Value, json};

use crate::{
    BundleError, Sum,
    component::Arch,
    error::failed,
    sum::Summing,
    tarball::{append, append_dir, append_file, append_header, append_link},
};

/// What an image says about itself.
pub struct Image<'a> {
    /// Its name with tag, for example `blackstart.local/pause:3.10.2`.
    pub name: &'a str,
    /// The path of its one file, without a leading slash; it is the entry point.
    pub program: &'a str,
    /// Who runs it, `uid:gid`.
    pub user: Option<&'a str>,
    /// The processor the program is for.
    pub arch: Arch,
    /// Symbolic links beside the program: their paths, without a leading slash, and what they point to.
    pub links: &'a [(&'a str, &'a str)],
}

impl Image<'_> {
    /// Wraps a program into an archive at `to`. The layer is made twice, for its sum and for the archive, because to read
    /// a program again costs less than to write all of it once more.
    pub fn write(&self, program: &Path, to: &Path) -> Result<(), BundleError> {
        let layer = self.layer(program, io::sink()).map_err(failed("read", program))?;
        let config = self.config(&layer.sum).to_string();
        let config_blob = Blob::of(&config);
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": config_blob.descriptor("application/vnd.oci.image.config.v1+json"),
            "layers": [layer.descriptor("application/vnd.oci.image.layer.v1.tar")],
        })
        .to_string();
        let manifest_blob = Blob::of(&manifest);
        let index = self.index(&manifest_blob).to_string();

        let texts = [
            ("oci-layout".to_owned(), r#"{"imageLayoutVersion":"1.0.0"}"#),
            ("index.json".to_owned(), &*index),
            (manifest_blob.path(), &*manifest),
            (config_blob.path(), &*config),
        ];
        self.archive(program, to, &texts, &layer).map_err(failed("write", to))
    }

    fn archive(&self, program: &Path, to: &Path, texts: &[(String, &str)], layer: &Blob) -> io::Result<()> {
        let mut archive = tar::Builder::new(BufWriter::new(fs::File::create(to)?));
        for (path, text) in texts {
            append(&mut archive, path, 0o644, text.as_bytes())?;
        }
        // An archive within an archive: its size is a multiple of what entries are padded to.
        append_header(&mut archive, &layer.path(), 0o644, layer.size)?;
        let written = self.layer(program, archive.get_mut())?;
        if written.sum != layer.sum {
            return Err(io::Error::other(format!("{} changed while it was read", program.display())));
        }
        archive.into_inner()?.flush()
    }

    fn layer(&self, program: &Path, to: impl Write) -> io::Result<Blob> {
        let mut layer = tar::Builder::new(Summing::new(to));
        append_file(&mut layer, self.program, 0o755, program)?;
        let dirs: BTreeSet<&Path> = self.links.iter().flat_map(|(path, _)| above(path)).collect();
        for dir in dirs {
            append_dir(&mut layer, dir, 0o755)?;
        }
        for (path, target) in self.links {
            append_link(&mut layer, path, target)?;
        }
        let (_, sum, size) = layer.into_inner()?.finish();
        Ok(Blob { sum, size })
    }

    fn config(&self, layer: &Sum) -> Value {
        let mut run = json!({
            "Entrypoint": [format!("/{}", self.program)],
            "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
            "WorkingDir": "/",
        });
        if let Some(user) = self.user {
            run["User"] = user.into();
        }
        json!({
            "created": "1970-01-01T00:00:00Z",
            "architecture": self.arch.name(),
            "os": "linux",
            "config": run,
            "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{layer}")] },
        })
    }

    fn index(&self, manifest: &Blob) -> Value {
        let mut descriptor = manifest.descriptor("application/vnd.oci.image.manifest.v1+json");
        descriptor["platform"] = json!({ "architecture": self.arch.name(), "os": "linux" });
        // The first is what the specification knows; containerd takes the whole name from the second.
        descriptor["annotations"] = json!({
            "org.opencontainers.image.ref.name": self.name.rsplit_once(':').map_or(self.name, |(_, tag)| tag),
            "io.containerd.image.name": self.name,
        });
        json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.index.v1+json",
            "manifests": [descriptor],
        })
    }
}

/// The directories that lead to a path, the outermost first.
fn above(path: &str) -> impl Iterator<Item = &Path> {
    let mut above: Vec<&Path> = Path::new(path).ancestors().skip(1).filter(|dir| !dir.as_os_str().is_empty()).collect();
    above.reverse();
    above.into_iter()
}

/// Content that an image refers to by its sum.
struct Blob {
    sum: Sum,
    size: u64,
}

impl Blob {
    fn of(text: &str) -> Self {
        Self { sum: Sum::of(text.as_bytes()), size: text.len() as u64 }
    }

    fn path(&self) -> String {
        format!("blobs/sha256/{}", self.sum)
    }

    fn descriptor(&self, media_type: &str) -> Value {
        json!({ "mediaType": media_type, "digest": format!("sha256:{}", self.sum), "size": self.size })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn sample(dir: &Path, name: &str) -> Vec<u8> {
        let program = dir.join("program");
        fs::write(&program, b"\x7fELF and so on").unwrap();
        let arch = Arch::AMD64;
        let (program_name, user) = ("pause", Some("65535:65535"));
        let image = Image { name: "blackstart.local/pause:3.10.2", program: program_name, user, arch, links: &[] };
        let to = dir.join(name);
        image.write(&program, &to).unwrap();
        fs::read(to).unwrap()
    }

    #[test]
    fn the_same_program_gives_the_same_bytes() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        assert_eq!(sample(one.path(), "a.tar"), sample(other.path(), "b.tar"));
    }

    #[test]
    fn every_reference_leads_to_content_of_that_sum() {
        let dir = tempfile::tempdir().unwrap();
        let archive = sample(dir.path(), "image.tar");
        let mut page = Vec::new();
        for entry in tar::Archive::new(archive.as_slice()).entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().display().to_string();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            if let Some(sum) = path.strip_prefix("blobs/sha256/") {
                assert_eq!(Sum::of(&content).as_str(), sum);
            }
            let text = serde_json::from_slice::<Value>(&content)
                .map_or_else(|_| format!("{} bytes", content.len()), |json| format!("{json:#}"));
            let (mode, time) = (entry.header().mode().unwrap(), entry.header().mtime().unwrap());
            page.push(format!("== {path} {mode:o} {time}\n{text}"));
        }
        insta::assert_snapshot!(page.join("\n"));
    }

    #[test]
    fn links_stand_beside_the_program() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("program");
        fs::write(&program, "program").unwrap();
        let links = [("bin/cat", "../program"), ("usr/bin/chroot", "../../program")];
        let image = Image { name: "a/b:1", program: "program", user: None, arch: Arch::AMD64, links: &links };
        let mut layer = Vec::new();
        image.layer(&program, &mut layer).unwrap();
        let shown: Vec<String> = tar::Archive::new(layer.as_slice())
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let link = entry.link_name().unwrap().map(|to| format!(" -> {}", to.display())).unwrap_or_default();
                format!("{:o} {}{link}", entry.header().mode().unwrap(), entry.path().unwrap().display())
            })
            .collect();
        let links = ["777 bin/cat -> ../program", "777 usr/bin/chroot -> ../../program"];
        assert_eq!(shown, [&["755 program", "755 bin/", "755 usr/", "755 usr/bin/"][..], &links].concat());
    }
}
