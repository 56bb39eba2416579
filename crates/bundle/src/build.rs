//! Makes a bundle: gets every component into the cache, then assembles the directory from there.
//!
//! Two passes over the components. In the first, what only has to be looked up, copied or downloaded overlaps. What is
//! left is compiled in the second, one after the other, because a compiler alone keeps all processors busy.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Instant,
};

use crate::{
    BundleError, Cache, Component, Manifest, Progress, SourceKind, Sources, State, Stop, Update, Wanted,
    assemble::assemble,
    cache::Claim,
    component::Arch,
    elf,
    error::failed,
    obtained::{Content, Obtained},
    source::{
        Files, Job, Refusal, ensure_version,
        given::{Found, Given},
        is_c,
        modules::Modules,
        needs::Needs,
        recipes,
        release::Releases,
    },
    space,
    staged::may_be_replaced,
};

/// Downloads at the same time.
const LANES: usize = 4;

/// What downloads and the components themselves take, with a margin.
const ROOM_TO_FETCH: u64 = 2_000_000_000;

/// What compiling takes in Go's caches and here, with a margin.
const ROOM_TO_COMPILE: u64 = 10_000_000_000;

/// Makes bundles.
#[derive(Clone)]
pub struct Builder {
    /// Where components are kept.
    pub cache: Cache,
    /// Where they may come from.
    pub sources: Sources,
    /// Install what compiling needs, if this is root on a machine with apt.
    pub install_tools: bool,
    /// Ends the work.
    pub stop: Stop,
    /// Gets what happens.
    pub progress: Arc<dyn Progress>,
}

/// What the first pass found out about a component.
enum Pass {
    Done(Obtained),
    /// It has to be compiled; with the errors of the other sources.
    Left(&'static Component, Vec<String>),
}

impl Builder {
    /// Makes the bundle `wanted` at `out`, replacing an older bundle there.
    pub fn build(&self, out: &Path, wanted: &Wanted) -> Result<Manifest, BundleError> {
        // What can be refused is refused now, not after minutes of compiling.
        may_be_replaced(out)?;
        let arch = Arch::of_this_machine()?;
        if let Some(own) = &wanted.own {
            elf::ensure_static(&own.program)?;
        }
        if !wanted.components.iter().all(|component| self.is_cached(component, arch)) {
            space::ensure("a bundle", self.cache.root(), ROOM_TO_FETCH)?;
        }
        let site = Site::open(self, wanted, arch)?;
        let obtained = site.obtain(&wanted.components)?;
        assemble(out, wanted, &obtained, &self.cache, arch)
    }

    fn is_cached(&self, component: &Component, arch: Arch) -> bool {
        recipes(&self.sources, component, arch).iter().any(|recipe| self.cache.knows(recipe, component.name))
    }
}

/// Everything that lives as long as one build.
struct Site<'a> {
    builder: &'a Builder,
    wanted: &'a Wanted,
    arch: Arch,
    given: Option<Given>,
    releases: Option<Releases>,
    modules: Modules,
    needs: Needs,
    /// Keeps what was unpacked from a given archive.
    _given_claim: Option<Claim<'a>>,
}

impl<'a> Site<'a> {
    fn open(builder: &'a Builder, wanted: &'a Wanted, arch: Arch) -> Result<Self, BundleError> {
        let (given, claim) = match &builder.sources.given {
            None => (None, None),
            Some(path) => {
                let claim = builder.cache.claim("given", &builder.stop, || {})?;
                (Some(Given::open(path, claim.work())?), Some(claim))
            }
        };
        Ok(Self {
            builder,
            wanted,
            arch,
            given,
            releases: builder.sources.release.clone().map(Releases::new),
            modules: Modules::default(),
            needs: Needs::new(builder.install_tools),
            _given_claim: claim,
        })
    }

    fn obtain(&self, components: &[&'static Component]) -> Result<Vec<Obtained>, BundleError> {
        let mut obtained = Vec::new();
        let mut left = Vec::new();
        // In the order of the table again, whichever was found out first.
        let mut passes = self.first_pass(components);
        passes.sort_by_key(|(index, _)| *index);
        for (_, pass) in passes {
            match pass? {
                Pass::Done(done) => obtained.push(done),
                Pass::Left(component, reasons) => left.push((component, reasons)),
            }
        }
        if self.builder.sources.go_modules && left.iter().any(|(component, _)| !is_c(component)) {
            space::ensure("compiling the components", self.builder.cache.root(), ROOM_TO_COMPILE)?;
        }
        for (component, reasons) in left {
            obtained.push(self.second_pass(component, reasons)?);
        }
        Ok(obtained)
    }

    /// Looks into the cache and asks the quick sources, for several components at once. What the user gives comes before
    /// the cache: he may want it because it is not what others offer.
    fn first_pass(&self, components: &[&'static Component]) -> Vec<(usize, Result<Pass, BundleError>)> {
        let queue = Mutex::new(components.iter().enumerate());
        let results = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..LANES.min(components.len()) {
                scope.spawn(|| {
                    loop {
                        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some((index, component)) = next else { return };
                        let result = self.work_on(component, |job| self.quickly(job));
                        results.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
                    }
                });
            }
        });
        results.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn quickly(&self, job: &Job) -> Result<Pass, BundleError> {
        let mut reasons = Vec::new();
        let mut pass_over = |source, why: BundleError| {
            job.passed_over(source, &why);
            reasons.push(why);
        };
        if let Some(given) = &self.given {
            match self.take_given(given, job) {
                Ok(done) => return Ok(Pass::Done(done)),
                Err(Refusal::Unavailable(why)) => pass_over(SourceKind::Given, why),
                Err(Refusal::Broken(error)) => return Err(error),
            }
        }
        if let Some(done) = self.look_up(job)? {
            return Ok(Pass::Done(done));
        }
        if let (Some(releases), Some(release)) = (&self.releases, &job.component.release) {
            match releases.fetch(release, job, &self.needs) {
                Ok(files) => return self.keep(job, SourceKind::Release, files).map(Pass::Done),
                Err(Refusal::Unavailable(why)) => pass_over(SourceKind::Release, why),
                Err(Refusal::Broken(error)) => return Err(error),
            }
        }
        if !self.builder.sources.go_modules {
            return Err(no_source(job.component, reasons));
        }
        Ok(Pass::Left(job.component, reasons.iter().map(|why| explain::chain(why)).collect()))
    }

    fn second_pass(&self, component: &'static Component, reasons: Vec<String>) -> Result<Obtained, BundleError> {
        self.work_on(component, |job| {
            // Another build may have made it meanwhile.
            if let Some(done) = self.look_up(job)? {
                return Ok(done);
            }
            match self.modules.build(job, &self.needs) {
                Ok(files) => self.keep(job, SourceKind::GoModules, files),
                Err(Refusal::Broken(error)) => Err(error),
                Err(Refusal::Unavailable(why)) if reasons.is_empty() => Err(why),
                Err(Refusal::Unavailable(why)) => {
                    job.passed_over(SourceKind::GoModules, &why);
                    let reasons = reasons.into_iter().chain([explain::chain(&why)]).collect();
                    Err(BundleError::NoSource { component: component.name, version: component.version, reasons })
                }
            }
        })
    }

    /// Runs one piece of work on a component, alone.
    fn work_on<T>(
        &self,
        component: &'static Component,
        work: impl FnOnce(&Job) -> Result<T, BundleError>,
    ) -> Result<T, BundleError> {
        let Builder { cache, stop, progress, .. } = self.builder;
        let started = Instant::now();
        let update = |state| Update { component: component.name, state, elapsed: started.elapsed() };
        let claim = cache.claim(component.name, stop, || progress.update(&update(State::Waiting)))?;
        work(&Job { component, arch: self.arch, claim: &claim, stop, progress: &**progress, started })
    }

    fn look_up(&self, job: &Job) -> Result<Option<Obtained>, BundleError> {
        for recipe in recipes(&self.builder.sources, job.component, self.arch) {
            if let Some(files) = job.claim.find(&recipe)? {
                job.emit(State::Cached(recipe.source()));
                let content = Content::Programs(files);
                return Ok(Some(Obtained { component: job.component, source: recipe.source(), content }));
            }
        }
        Ok(None)
    }

    fn take_given(&self, given: &Given, job: &Job) -> Result<Obtained, Refusal> {
        let image = self.wanted.image_of(job.component);
        match given.fetch(job, image.as_deref())? {
            Found::Programs(files) => Ok(self.keep(job, SourceKind::Given, files)?),
            Found::Image(path, name) => {
                let content = Content::Image(job.claim.store(job.component.name.to_owned(), &path)?, name);
                job.emit(State::Made(SourceKind::Given));
                Ok(Obtained { component: job.component, source: SourceKind::Given, content })
            }
        }
    }

    /// Checks programs that a source gave, and keeps them.
    fn keep(&self, job: &Job, source: SourceKind, files: Files) -> Result<Obtained, BundleError> {
        let component = job.component;
        for (name, path) in &files {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(failed("write", path))?;
            if let Some(program) = component.programs.iter().find(|program| program.name == name) {
                ensure_version(path, program, component.version, job.work(), job.stop)?;
            }
        }
        // What a user gives can change under the same name, so it is not remembered.
        let recipe = recipes(&self.builder.sources, component, self.arch).into_iter().find(|it| it.source() == source);
        let content = Content::Programs(job.claim.keep(recipe.as_ref(), files)?);
        job.emit(State::Made(source));
        Ok(Obtained { component, source, content })
    }
}

/// The one reason itself, or all of them.
fn no_source(component: &Component, mut reasons: Vec<BundleError>) -> BundleError {
    if reasons.len() == 1
        && let Some(only) = reasons.pop()
    {
        return only;
    }
    let reasons = reasons.iter().map(|why| explain::chain(why)).collect();
    BundleError::NoSource { component: component.name, version: component.version, reasons }
}
