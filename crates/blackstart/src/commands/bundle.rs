//! `blackstart bundle`: where components come from.

use std::{fmt::Write, path::Path, sync::Arc};

use ::bundle::{Builder, Cache, Manifest, Mirror, Own, Sources, Stop, Update, Wanted};

use playbooks::cluster;

use crate::{
    cli::{BundleCommand, BundleSource},
    context::{Context, Ended},
    output::note,
    progress::busy,
};

pub(super) fn run(context: &Context, command: &BundleCommand) -> Result<(), Ended> {
    match command {
        BundleCommand::Build { dir, from, source, mirror, with } => {
            let release = || Some(Mirror { address: mirror.clone() });
            let sources = match source {
                Some(BundleSource::Release) => Sources { given: from.clone(), release: release(), go_modules: false },
                Some(BundleSource::GoModules) => Sources { given: from.clone(), release: None, go_modules: true },
                None => Sources { given: from.clone(), release: release(), ..Sources::default() },
            };
            build(context, dir, sources, with)
        }
        BundleCommand::Show { dir } => show(context, &Manifest::read(dir)?),
        BundleCommand::Verify { dir } => {
            let manifest = busy(context.out, "verifying", || ::bundle::verify(dir))?;
            done(context, &manifest, &format!("{} is whole", dir.display()))
        }
        BundleCommand::Install { dir } => install(context, dir),
        BundleCommand::Pack { dir, archive } => {
            let manifest = busy(context.out, "packing", || ::bundle::pack(dir, archive))?;
            done(context, &manifest, &format!("packed into {}", archive.display()))
        }
        BundleCommand::Unpack { archive, dir } => {
            let manifest = busy(context.out, "unpacking and verifying", || ::bundle::unpack(archive, dir))?;
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
        progress: Arc::new(|update: &Update<'_>| note(&format!("{update}\n"))),
    };
    let manifest = builder.build(dir, &wanted)?;
    done(context, &manifest, &format!("made {}", dir.display()))
}

fn install(context: &Context, dir: &Path) -> Result<(), Ended> {
    let report = context.run_in(&context.layout.state_dir, "this machine", &cluster::components(dir)?)?;
    if context.out.is_json() {
        return Ok(());
    }
    let text = if report.changed.is_empty() { "was installed already" } else { "is installed and in use" };
    Ok(context.out.text(&format!("{} {text}\n", dir.display()))?)
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
