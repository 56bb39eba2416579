//! Makes a bundle and says what happens; for measuring, and as the patient of the tests in `tests/suite`.
//!
//! ```text
//! make OUT [--cache DIR] [--mirror ADDRESS | --go] [--only NAME]... [--extra NAME]... [--own PROGRAM] [--pack FILE]
//! ```
//!
//! `--mirror` uses the publishers' downloads only, from that address; `--go` builds from Go modules only. `--pack` also packs and unpacks the bundle.

use std::{
    env,
    error::Error,
    fs,
    io::{self, Write},
    path::PathBuf,
    sync::Arc,
    time::Instant,
};

use bundle::{Builder, Cache, Mirror, Own, Sources, Stop, Update, Wanted, pack, unpack, verify};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = None;
    let (mut cache, mut sources, mut own) = (Cache::of_user(), Sources::default(), None);
    let mut packed = None;
    let (mut only, mut extras) = (Vec::new(), Vec::new());
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("`{argument}` needs a value"));
        match argument.as_str() {
            "--cache" => cache = Cache::at(value()?),
            "--mirror" => {
                sources.release = Some(Mirror { address: Some(value()?) });
                sources.go_modules = false;
            }
            "--go" => sources.release = None,
            "--only" => only.push(value()?),
            "--extra" => extras.push(value()?),
            "--pack" => packed = Some(PathBuf::from(value()?)),
            "--own" => own = Some(Own { program: value()?.into(), version: env!("CARGO_PKG_VERSION").to_owned() }),
            _ => out = Some(PathBuf::from(argument)),
        }
    }
    let out = out.ok_or("where shall the bundle go?")?;
    let wanted = if only.is_empty() { Wanted::default() } else { Wanted::default().only(&only)? };
    let wanted = Wanted { own, ..wanted.with_extras(&extras)? };

    let started = Instant::now();
    let progress = |update: &Update<'_>| {
        let Update { component, state, elapsed } = update;
        // The reader may be gone; the build goes on.
        let _ = writeln!(io::stdout(), "{:>7.1} s  {component:<24} {state:?}", elapsed.as_secs_f32());
    };
    let builder = Builder { cache, sources, install_tools: true, stop: Stop::default(), progress: Arc::new(progress) };
    let manifest = builder.build(&out, &wanted)?;
    say(started, &format!("made: {} files, {} bytes", manifest.files().count(), manifest.size()))?;
    if let Some(packed) = packed {
        let started = Instant::now();
        verify(&out)?;
        say(started, "verified")?;
        let started = Instant::now();
        pack(&out, &packed)?;
        say(started, &format!("verified and packed: {} bytes", fs::metadata(&packed)?.len()))?;
        let (started, back) = (Instant::now(), out.with_extension("unpacked"));
        unpack(&packed, &back)?;
        say(started, "unpacked and verified")?;
        fs::remove_dir_all(back)?;
    }
    Ok(())
}

fn say(started: Instant, what: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{:>7.1} s  {what}", started.elapsed().as_secs_f32())
}
