//! The publishers' downloads, each checked against the checksum its publisher offers.
//!
//! A host that cannot be reached is found out within seconds, and then not tried again for the rest of the build.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufReader, Read, Write},
    path::{Path, PathBuf},
    sync::Mutex,
    time::Duration,
};

use reqwest::{StatusCode, blocking::Client};
use rustls::crypto::{CryptoProvider, aws_lc_rs};

use super::{Files, Job, Mirror, Refusal, is_c, modules::compile_c, needs::Needs, published};
use crate::{BundleError, State, Stop, component::Release, error::failed, manifest::SourceKind, sum::Summing};

const CONNECT: Duration = Duration::from_secs(3);

/// Nothing at all for this long: the download hangs.
const STALLED: Duration = Duration::from_secs(30);

/// The source.
pub(crate) struct Releases {
    client: Result<Client, String>,
    mirror: Mirror,
    /// Hosts that did not answer, and what was seen.
    silent: Mutex<BTreeMap<String, String>>,
}

impl Releases {
    pub(crate) fn new(mirror: Mirror) -> Self {
        if CryptoProvider::get_default().is_none() {
            // If another thread was faster, its choice is as good.
            let _ = aws_lc_rs::default_provider().install_default();
        }
        let agent = concat!("blackstart/", env!("CARGO_PKG_VERSION"));
        let client = Client::builder().connect_timeout(CONNECT).timeout(STALLED).user_agent(agent).build();
        Self { client: client.map_err(|error| explain::chain(&error)), mirror, silent: Mutex::default() }
    }

    /// The programs of a component, which its publisher offers like this.
    pub(crate) fn fetch(&self, release: &Release, job: &Job, needs: &Needs) -> Result<Files, Refusal> {
        let component = job.component;
        job.emit(State::Fetching(SourceKind::Release));
        let mut downloads: BTreeMap<String, PathBuf> = BTreeMap::new();
        let mut files = Files::new();
        for program in component.programs {
            let (url, sums) = release.addresses(component, program, job.arch);
            let download = if let Some(download) = downloads.get(&url) {
                download.clone()
            } else {
                let to = job.work().join(format!("download-{}", downloads.len()));
                self.download(&url, &sums, &to, job.stop)?;
                downloads.insert(url.clone(), to.clone());
                to
            };
            let path = job.work().join(program.name);
            match release.member {
                None => fs::rename(&download, &path).map_err(failed("rename", &download))?,
                Some(member) => {
                    let member = component.fill(member, job.arch).replace("{program}", program.name);
                    extract(&download, &member, &path)?;
                }
            }
            if is_c(component) {
                let source = job.work().join(format!("{}.c", program.name));
                fs::rename(&path, &source).map_err(failed("rename", &path))?;
                compile_c(job, needs, &source, &path)?;
            }
            files.push((program.name.to_owned(), path));
        }
        Ok(files)
    }

    fn download(&self, url: &str, sums: &str, to: &Path, stop: &Stop) -> Result<(), Refusal> {
        let mut text = String::new();
        let mut answer = self.get(sums)?;
        answer.read_to_string(&mut text).map_err(|error| broken_off(sums, &error))?;
        let name = url.rsplit_once('/').map_or(url, |(_, name)| name);
        let expected = published::sum_of(&text, name)
            .ok_or_else(|| unavailable(sums, format!("it has no checksum of `{name}`")))?;

        let mut answer = self.get(url)?;
        let file = fs::File::create(to).map_err(failed("write", to))?;
        let mut file = Summing::new(file);
        let mut buffer = vec![0; 128 * 1024];
        loop {
            stop.check()?;
            match answer.read(&mut buffer).map_err(|error| broken_off(url, &error))? {
                0 => break,
                read => file.write_all(&buffer[..read]).map_err(failed("write", to))?,
            }
        }
        let (_, found, _) = file.finish();
        if found == expected {
            return Ok(());
        }
        let (found, expected) = (found.to_string(), expected.to_string());
        Err(BundleError::Checksum { url: url.to_owned(), found, expected }.into())
    }

    fn get(&self, url: &str) -> Result<reqwest::blocking::Response, Refusal> {
        let address = match &self.mirror.address {
            Some(mirror) => url.replacen("https:/", mirror.trim_end_matches('/'), 1),
            None => url.to_owned(),
        };
        let host = host_of(&address);
        if let Some(why) = self.silent.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get(host) {
            return Err(unavailable(host, why.clone()));
        }
        let client = self.client.as_ref().map_err(|why| unavailable(host, why.clone()))?;
        let answer = client.get(&address).send().map_err(|error| {
            let why = unreached(&error);
            let mut silent = self.silent.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            silent.insert(host.to_owned(), why.clone());
            unavailable(host, why)
        })?;
        match answer.status() {
            StatusCode::OK => Ok(answer),
            status => Err(unavailable(&address, format!("the answer was {status}"))),
        }
    }
}

/// What a person needs of the long chain: the time it took, or the cause at its end.
fn unreached(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        let deadline = if error.is_connect() { CONNECT } else { STALLED };
        return format!("no answer within {} s", deadline.as_secs());
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    format!("cannot be reached: {cause}")
}

fn unavailable(location: &str, why: String) -> Refusal {
    Refusal::Unavailable(BundleError::Unreachable { location: location.to_owned(), why })
}

fn broken_off(location: &str, error: &io::Error) -> Refusal {
    unavailable(location, format!("the download broke off: {}", explain::chain(error)))
}

fn host_of(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split_once('/').map_or(rest, |(host, _)| host)
}

/// Takes one file out of a compressed archive.
fn extract(archive: &Path, member: &str, to: &Path) -> Result<(), BundleError> {
    let damaged = |source| BundleError::Archive { path: archive.to_path_buf(), source };
    let plain = |path: &str| path.trim_start_matches("./").to_owned();
    let file = fs::File::open(archive).map_err(failed("read", archive))?;
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(BufReader::new(file)));
    for entry in archive.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        if plain(&String::from_utf8_lossy(&entry.path_bytes())) == plain(member) {
            let mut file = fs::File::create(to).map_err(failed("write", to))?;
            io::copy(&mut entry, &mut file).map_err(damaged)?;
            return Ok(());
        }
    }
    Err(damaged(io::Error::new(io::ErrorKind::NotFound, format!("there is no `{member}` in it"))))
}
