//! `blackstart bundle`: where components come from.

use std::{fmt::Write, path::Path, sync::Arc};

use ::bundle::{Builder, Cache, Manifest, Mirror, Own, Sources, State, Stop, Update, Wanted};

use crate::{
    cli::{BundleCommand, BundleSource},
    context::{Context, Ended},
    output::note,
};

pub(super) fn run(context: &Context, command: &BundleCommand) -> Result<(), Ended> {
    match command {
        BundleCommand::Build { dir, from, source, with } => {
            let sources = match source {
                Some(BundleSource::Release) => {
                    Sources { given: from.clone(), release: Some(Mirror::default()), go_modules: false }
                }
                Some(BundleSource::GoModules) => Sources { given: from.clone(), release: None, go_modules: true },
                None => Sources { given: from.clone(), ..Sources::default() },
            };
            build(context, dir, sources, with)
        }
        BundleCommand::Show { dir } => show(context, &Manifest::read(dir)?),
        BundleCommand::Verify { dir } => {
            let manifest = ::bundle::verify(dir)?;
            done(context, &manifest, &format!("{} is whole", dir.display()))
        }
        BundleCommand::Pack { dir, archive } => {
            let manifest = ::bundle::pack(dir, archive)?;
            done(context, &manifest, &format!("packed into {}", archive.display()))
        }
        BundleCommand::Unpack { archive, dir } => {
            let manifest = ::bundle::unpack(archive, dir)?;
            done(context, &manifest, &format!("unpacked into {}", dir.display()))
        }
    }
}

fn build(context: &Context, dir: &Path, sources: Sources, extras: &[String]) -> Result<(), Ended> {
    let program = std::env::current_exe()
        .map_err(|error| crate::Failure::new(crate::codes::NO_RUNTIME, format!("cannot find this program: {error}")))?;
    let own = Own { program, version: env!("CARGO_PKG_VERSION").to_owned() };
    let wanted = Wanted { own: Some(own), ..Wanted::default() }.with_extras(extras)?;
    let builder = Builder {
        cache: Cache::of_user(),
        sources,
        install_tools: true,
        stop: Stop::default(),
        progress: Arc::new(|update: &Update<'_>| note(&progress(update))),
    };
    let manifest = builder.build(dir, &wanted)?;
    done(context, &manifest, &format!("made {}", dir.display()))
}

fn progress(update: &Update<'_>) -> String {
    let Update { component, state, elapsed } = update;
    let said = match state {
        State::Waiting => "waiting for another process that is at it".to_owned(),
        State::PassedOver(source, reason) => format!("not from {}: {reason}", source.as_str()),
        State::Installing(packages) => format!("installing {}", packages.join(", ")),
        State::Fetching(source) => format!("fetching from {}", source.as_str()),
        State::Compiling => "compiling".to_owned(),
        State::Cached(source) => format!("in the cache, from {}", source.as_str()),
        State::Made(source) => format!("made from {} ({} s)", source.as_str(), elapsed.as_secs()),
    };
    format!("{component}: {said}\n")
}

fn done(context: &Context, manifest: &Manifest, what: &str) -> Result<(), Ended> {
    if context.out.is_json() {
        return Ok(context.out.json(manifest)?);
    }
    let megabytes = manifest.size() / 1_000_000;
    Ok(context.out.text(&format!("{what}: {} components, {megabytes} MB\n", manifest.components.len()))?)
}

fn show(context: &Context, manifest: &Manifest) -> Result<(), Ended> {
    if context.out.is_json() {
        return Ok(context.out.json(manifest)?);
    }
    let mut text = format!("{:<24} {:<10} {:<11} {:>8}  FILES\n", "COMPONENT", "VERSION", "SOURCE", "SIZE");
    for entry in &manifest.components {
        let size = entry.files.iter().map(|file| file.size).sum::<u64>() / 1_000_000;
        let files: Vec<&str> = entry.files.iter().map(|file| file.path.as_str()).collect();
        let source = entry.source.as_str();
        let _ =
            writeln!(text, "{:<24} {:<10} {source:<11} {size:>5} MB  {}", entry.name, entry.version, files.join(" "));
    }
    Ok(context.out.text(&text)?)
}
