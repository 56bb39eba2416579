//! A web server with stand-ins for all components, at the paths and with the checksums of the real publishers.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, LazyLock, Mutex},
    thread,
    time::Duration,
};

use bundle::{
    Component, Sum,
    component::{Arch, Build},
    table,
};

use super::{script, static_program};

/// Files of an archive: path and content.
type Members = Vec<(String, Vec<u8>)>;

/// The server; it ends with the test process.
pub(crate) struct Publisher {
    port: u16,
    pages: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Publisher {
    /// Offers everything.
    pub(crate) fn start() -> Self {
        Self::slow(Duration::ZERO)
    }

    /// Offers everything, with a pause in the middle of each file.
    pub(crate) fn slow(pause: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let pages = Arc::new(Mutex::new(PAGES.clone()));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (shown, log) = (Arc::clone(&pages), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (shown, log) = (Arc::clone(&shown), Arc::clone(&log));
                // A client that was killed closes early; that is its business.
                thread::spawn(move || answer(&stream.unwrap(), &shown, &log, pause));
            }
        });
        Self { port, pages, asked }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Changes what is offered at the path that ends so.
    pub(crate) fn change(&self, ending: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut pages = self.pages.lock().unwrap();
        change(pages.iter_mut().find(|(path, _)| path.ends_with(ending)).expect("a page").1);
    }

    /// Stops to offer what ends so.
    pub(crate) fn withdraw(&self, ending: &str) {
        self.pages.lock().unwrap().retain(|path, _| !path.ends_with(ending));
    }

    /// How many requests there were.
    pub(crate) fn requests(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

fn answer(
    stream: &TcpStream,
    pages: &Mutex<BTreeMap<String, Vec<u8>>>,
    log: &Mutex<Vec<String>>,
    pause: Duration,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut to = stream;
    loop {
        let mut request = String::new();
        if reader.read_line(&mut request)? == 0 {
            return Ok(());
        }
        let mut header = String::new();
        while reader.read_line(&mut header)? > 2 {
            header.clear();
        }
        let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
        log.lock().unwrap().push(path.clone());
        let Some(page) = pages.lock().unwrap().get(&path).cloned() else {
            to.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")?;
            continue;
        };
        to.write_all(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", page.len()).as_bytes())?;
        let (first, second) = page.split_at(page.len() / 2);
        to.write_all(first)?;
        thread::sleep(pause);
        to.write_all(second)?;
    }
}

/// Made once: a compiler takes part in it.
static PAGES: LazyLock<BTreeMap<String, Vec<u8>>> = LazyLock::new(all_pages);

fn all_pages() -> BTreeMap<String, Vec<u8>> {
    let mut pages = BTreeMap::new();
    for component in table::COMPONENTS {
        let Some(release) = component.release else { continue };
        let mut assets: BTreeMap<(String, String), Members> = BTreeMap::new();
        for program in component.programs {
            let fill = |text: &str| fill(text, component, program.name);
            let base = fill(release.base).replace("https:/", "");
            let asset = fill(release.asset);
            let sums = fill(release.sums).replace("{asset}", &asset);
            let member = release.member.map(&fill).unwrap_or_default();
            let files = assets.entry((format!("{base}/{asset}"), format!("{base}/{sums}"))).or_default();
            files.push((member, stand_in(component)));
        }
        for ((asset, sums), files) in assets {
            let content = match files.as_slice() {
                [(member, content)] if member.is_empty() => content.clone(),
                files => archive(files),
            };
            let name = asset.rsplit_once('/').unwrap().1;
            pages.insert(sums, format!("{}  {name}\n", Sum::of(&content)).into_bytes());
            pages.insert(asset, content);
        }
    }
    pages
}

fn fill(text: &str, component: &Component, program: &str) -> String {
    let source = match component.build {
        Build::C(c) => c.version,
        Build::Go(_) => component.version,
    };
    text.replace("{version}", component.version)
        .replace("{source}", source)
        .replace("{arch}", Arch::of_this_machine().unwrap().name())
        .replace("{program}", program)
}

/// Something that says the component's version; for images a real program, for C a source.
fn stand_in(component: &Component) -> Vec<u8> {
    if matches!(component.build, Build::C(_)) {
        return b"#include <stdio.h>\n#define T(x) #x\n#define S(x) T(x)\nint main(void) { puts(S(VERSION)); return 0; }\n"
            .to_vec();
    }
    match component.shape {
        bundle::component::Shape::Programs { .. } => script(&format!("this is v{}", component.version)),
        bundle::component::Shape::Image { .. } => {
            let dir = tempfile::tempdir().unwrap();
            std::fs::read(static_program(dir.path(), component.name, component.version)).unwrap()
        }
    }
}

fn archive(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (member, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o755);
        archive.append_data(&mut header, member, content.as_slice()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}
