//! Asks for all items at once, and puts clean answers together.

use std::{
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use futures::{StreamExt, stream::FuturesUnordered};
use host::{Disk, Host};
use jiff::Timestamp;
use tokio::{sync::oneshot, time::timeout};

use crate::{
    Archive, Entry, Index, files,
    item::{How, Item},
    objects,
    scrub::Scrubber,
    shell,
};

/// How far it is.
#[derive(Debug)]
pub struct Progress<'a> {
    /// Items that have ended.
    pub done: usize,
    /// Items in all.
    pub total: usize,
    /// The item that has just ended.
    pub last: &'a str,
}

/// Clean files, and the index of them.
#[derive(Debug, Clone)]
pub struct Gathered {
    /// What is there and what is not.
    pub index: Index,
    /// All files but the index itself.
    pub files: Archive,
}

impl Gathered {
    /// With nothing in it.
    pub(crate) fn new(name: &str, time: Timestamp) -> Self {
        Self { index: Index::new(name, time), files: Archive::default() }
    }

    /// Adds what was collected for an item, clean.
    pub(crate) fn add(&mut self, scrubber: &Scrubber, item: &Item, collected: Collected) {
        let mut entry = Entry {
            name: item.name.clone(),
            what: item.what.to_owned(),
            how: item.recipe(),
            files: 0,
            bytes: 0,
            milliseconds: u64::try_from(collected.took.as_millis()).unwrap_or(u64::MAX),
            redacted: 0,
            error: collected.error.map(|why| String::from_utf8_lossy(&scrubber.scrub(why.as_bytes()).0).into_owned()),
        };
        for (name, bytes) in collected.files {
            let (clean, redacted) = scrubber.scrub(&bytes);
            entry.files += 1;
            entry.bytes += clean.len();
            entry.redacted += redacted;
            self.files.files.insert(name, clean);
        }
        self.index.items.push(entry);
    }

    /// Everything with its index, ready to be packed.
    pub fn archive(&self) -> Archive {
        let mut archive = self.files.clone();
        let index = serde_json::to_vec_pretty(&self.index).unwrap_or_default();
        archive.files.insert("index.json".into(), index);
        archive.files.insert("errors.txt".into(), self.index.errors_text().into_bytes());
        archive
    }
}

/// What an item gave, not clean yet.
#[derive(Default)]
pub(crate) struct Collected {
    pub(crate) files: Vec<(String, Vec<u8>)>,
    pub(crate) error: Option<String>,
    pub(crate) took: Duration,
}

impl Collected {
    /// Nothing, for a reason.
    pub(crate) fn missing(why: impl Into<String>) -> Self {
        Self { error: Some(why.into()), ..Self::default() }
    }
}

/// The machine that items are asked of.
pub(crate) struct Source<'a> {
    pub(crate) host: &'a Host,
    /// Where certificates are.
    pub(crate) kubernetes_dir: &'a Path,
    /// Whether links can be followed and commands run.
    pub(crate) is_this_machine: bool,
    /// What lines of shell see.
    pub(crate) variables: Vec<(&'static str, String)>,
}

/// Asks for all items at once; the answers are in their order.
pub(crate) async fn collect(source: &Source<'_>, items: &[Item], emit: &dyn Fn(&Progress<'_>)) -> Vec<Collected> {
    let mut running: FuturesUnordered<_> = items
        .iter()
        .enumerate()
        .map(|(index, item)| async move {
            let started = Instant::now();
            let collected = one(source, item).await;
            (index, Collected { took: started.elapsed(), ..collected })
        })
        .collect();
    let mut all: Vec<Collected> = items.iter().map(|_| Collected::default()).collect();
    let mut done = 0;
    while let Some((index, collected)) = running.next().await {
        done += 1;
        emit(&Progress { done, total: items.len(), last: &items[index].name });
        all[index] = collected;
    }
    all
}

async fn one(source: &Source<'_>, item: &Item) -> Collected {
    let disk = source.host.disk.clone();
    match &item.how {
        How::Line(line) => printed(source, item, line, |text| text).await,
        How::Objects(line) => printed(source, item, line, |text| objects::trimmed(&text)).await,
        How::Files(patterns) => {
            let (patterns, follow) = (patterns.clone(), source.is_this_machine);
            apart(item.limit, move || matching(&*disk, &patterns, follow)).await
        }
        How::Certificates => {
            let (dir, now, name) = (source.kubernetes_dir.to_owned(), source.host.clock.now(), item.name.clone());
            apart(item.limit, move || certificates(&disk, &dir, now, name)).await
        }
    }
}

async fn printed(source: &Source<'_>, item: &Item, line: &str, refine: impl FnOnce(String) -> String) -> Collected {
    let printed = shell::run(source.host, line, &source.variables, item.limit).await;
    let text = refine(printed.text);
    let files = if text.is_empty() { Vec::new() } else { vec![(item.name.clone(), files::end_of(text.into_bytes()))] };
    Collected { files, error: printed.error, took: Duration::ZERO }
}

/// Reads in a thread of its own: a file system that hangs must not hold up the rest, nor the end of the program.
async fn apart(limit: Duration, read: impl FnOnce() -> Collected + Send + 'static) -> Collected {
    let (sender, receiver) = oneshot::channel();
    thread::spawn(move || sender.send(read()).ok());
    match timeout(limit, receiver).await {
        Ok(Ok(collected)) => collected,
        Ok(Err(_)) => Collected::missing("it could not be read"),
        Err(_) => Collected::missing(format!("could not be read within {} s", limit.as_secs())),
    }
}

fn matching(disk: &dyn Disk, patterns: &[String], follow: bool) -> Collected {
    let mut collected = Collected::default();
    for pattern in patterns {
        let read = files::matching(disk, pattern).map(|paths| {
            for path in paths {
                match files::read(disk, &path, follow) {
                    Ok(Some(bytes)) => collected.files.push((format!("files{}", path.display()), bytes)),
                    Ok(None) => {} // no file, or a secret
                    Err(error) => collected.error = Some(explain::chain(&error)),
                }
            }
        });
        if let Err(error) = read {
            collected.error = Some(explain::chain(&error));
        }
    }
    if collected.files.is_empty() && collected.error.is_none() {
        collected.error = Some("there are none on this machine".to_owned());
    }
    collected
}

fn certificates(disk: &Arc<dyn Disk>, dir: &Path, now: Timestamp, name: String) -> Collected {
    match pki::Existing::read(&**disk, dir) {
        Ok(existing) => {
            let text = pki::show(&pki::inventory(&existing, now), false);
            Collected { files: vec![(name, text.into_bytes())], ..Collected::default() }
        }
        Err(error) => Collected::missing(explain::chain(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{item::Availability, secrets::Secrets};

    #[tokio::test]
    async fn an_item_that_fails_or_hangs_spoils_only_itself() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("etc")).unwrap();
        std::fs::write(root.path().join("etc/hosts"), "token: hunter2\n").unwrap();
        let host = Host::rooted(root.path());
        let source = Source {
            host: &host,
            kubernetes_dir: Path::new("/etc/kubernetes"),
            is_this_machine: true,
            variables: Vec::new(),
        };
        let items = [
            Item { limit: Duration::from_secs(1), ..Item::line("slow.txt", "never ends", "echo begun; sleep 60") },
            Item::line("broken.txt", "fails", "echo sad; exit 3"),
            Item::line("good.txt", "works", "echo password=hunter2").only(Availability::Running),
            Item::files("hosts", "names", ["/etc/hosts"]),
            Item::files("none", "nothing", ["/etc/nothing*"]),
        ];
        let all = collect(&source, &items, &|_| ()).await;
        let scrubber = Scrubber::new(&Secrets::default()).unwrap();
        let mut gathered = Gathered::new("x", Timestamp::UNIX_EPOCH);
        items.iter().zip(all).for_each(|(item, collected)| gathered.add(&scrubber, item, collected));
        gathered.index.items.iter_mut().for_each(|item| item.milliseconds = 0);
        let files: Vec<String> = gathered
            .archive()
            .files
            .iter()
            .filter(|(name, _)| *name != "index.json")
            .map(|(name, bytes)| format!("== {name}\n{}", String::from_utf8_lossy(bytes)))
            .collect();
        insta::assert_snapshot!(files.join(""));
        gathered.index.program = "version".to_owned();
        insta::assert_json_snapshot!(gathered.index);
    }
}
