//! Runs programs of the outside: stoppable, with a time limit, and with the end of their output in the error.

use std::{
    ffi::OsStr,
    fs, io,
    io::{Read, Seek, SeekFrom},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use nix::{sys::signal, unistd::Pid};

use crate::{BundleError, Stop, error::failed};

/// How much of an output is worth showing when something failed.
const TAIL: u64 = 2_000;

/// A program that is busy for longer is busy for another reason than a fork.
const BUSY: Duration = Duration::from_secs(5);

/// Between two checks of something that is waited for.
const POLL: Duration = Duration::from_millis(20);

/// A program to run.
pub(crate) struct Run {
    command: Command,
    limit: Option<Duration>,
}

/// What a program printed.
pub(crate) struct Output {
    /// To its standard output.
    pub(crate) stdout: Vec<u8>,
    /// The end of what it printed to its standard error.
    pub(crate) stderr: String,
}

impl Run {
    /// This program, with messages in English and nothing to read.
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        command.stdin(Stdio::null()).env("LC_ALL", "C");
        Self { command, limit: None }
    }

    pub(crate) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn dir(mut self, dir: &Path) -> Self {
        self.command.current_dir(dir);
        self
    }

    /// Ends it when it takes longer than this.
    pub(crate) fn within(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Runs it to its end; an exit status other than 0 is an error. Its output goes through files in `scratch`, so that
    /// nothing has to be read while it runs.
    pub(crate) fn output(self, scratch: &Path, stop: &Stop) -> Result<Output, BundleError> {
        let name = self.name();
        let (output, status) = self.finish(scratch, stop)?;
        if status.success() {
            return Ok(output);
        }
        let message = if output.stderr.is_empty() { &String::from_utf8_lossy(&output.stdout) } else { &*output.stderr };
        Err(BundleError::Command { command: name, how: status.to_string(), output: message.trim().to_owned() })
    }

    /// Runs it to its end, whatever that is.
    pub(crate) fn finish(mut self, scratch: &Path, stop: &Stop) -> Result<(Output, ExitStatus), BundleError> {
        let name = self.name();
        let (mut stdout, mut stderr) = (capture(scratch, "stdout")?, capture(scratch, "stderr")?);
        let cannot_start = |source| BundleError::Start { command: name.clone(), source };
        self.command
            .stdout(stdout.try_clone().map_err(cannot_start)?)
            .stderr(stderr.try_clone().map_err(cannot_start)?)
            // Compilers have children of their own: all of them are stopped together.
            .process_group(0);
        let mut child = spawn(&mut self.command).map_err(cannot_start)?;
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(cannot_start)? {
                break status;
            }
            let late = self.limit.is_some_and(|limit| started.elapsed() > limit);
            if let Some(error) = stop.check().err().or_else(|| late.then(|| too_late(&name, started.elapsed()))) {
                end_group(child.id());
                child.wait().map_err(cannot_start)?;
                return Err(error);
            }
            thread::sleep(POLL);
        };
        let unreadable = failed("read", scratch);
        let read = read_all(&mut stdout).and_then(|stdout| Ok(Output { stdout, stderr: read_tail(&mut stderr)? }));
        Ok((read.map_err(unreadable)?, status))
    }

    fn name(&self) -> String {
        let words = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }
}

/// Starts a program that may have been written a moment ago. If another thread forked while the file was still open for
/// writing, the kernel calls it busy until that fork has become its own program, which is soon.
fn spawn(command: &mut Command) -> io::Result<Child> {
    let started = Instant::now();
    loop {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && started.elapsed() < BUSY => {
                thread::sleep(POLL);
            }
            result => return result,
        }
    }
}

fn too_late(command: &str, after: Duration) -> BundleError {
    let how = format!("no end after {} s", after.as_secs());
    BundleError::Command { command: command.to_owned(), how, output: String::new() }
}

/// Ends a process and all of its children. It may have ended by itself meanwhile, which is as good.
fn end_group(pid: u32) {
    if let Ok(pid) = i32::try_from(pid) {
        let _ = signal::killpg(Pid::from_raw(pid), signal::Signal::SIGKILL);
    }
}

/// A file without a name: it is gone when no process has it open any more.
fn capture(scratch: &Path, name: &str) -> Result<fs::File, BundleError> {
    let path = scratch.join(format!(".{name}-{:?}", thread::current().id()));
    let file = fs::OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path);
    let file = file.map_err(failed("write", &path))?;
    fs::remove_file(&path).map_err(failed("remove", &path))?;
    Ok(file)
}

fn read_all(file: &mut fs::File) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut content)?;
    Ok(content)
}

fn read_tail(file: &mut fs::File) -> io::Result<String> {
    let length = file.metadata()?.len();
    let mut content = Vec::new();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    file.read_to_end(&mut content)?;
    Ok(String::from_utf8_lossy(&content).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Run {
        Run::new("sh").args(["-c", script])
    }

    #[test]
    fn the_end_of_the_output_is_in_the_error() {
        let dir = tempfile::tempdir().unwrap();
        let stop = Stop::default();
        let good = shell("echo yes; echo aside >&2").output(dir.path(), &stop).unwrap();
        assert_eq!((good.stdout.as_slice(), good.stderr.as_str()), (b"yes\n".as_slice(), "aside"));
        let bad =
            shell("seq 100000 >&2; echo the reason >&2; exit 3").output(dir.path(), &stop).err().unwrap().to_string();
        assert!(bad.contains("exit status: 3") && bad.ends_with("the reason") && bad.len() < 3_000, "{bad}");
        let none = Run::new("no-such-program").output(dir.path(), &stop).err().unwrap();
        assert!(matches!(none, BundleError::Start { .. }));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing stays");
    }

    #[test]
    fn a_stop_ends_children_too() {
        let dir = tempfile::tempdir().unwrap();
        let (stop, asked) = (Stop::default(), Stop::default());
        let note = dir.path().join("child");
        let script = format!("sh -c 'echo $$ > {0}.new; mv {0}.new {0}; exec sleep 600' & wait", note.display());
        let child = thread::scope(|scope| {
            let run = scope.spawn(|| shell(&script).output(dir.path(), &stop));
            while !note.exists() {
                assert!(!run.is_finished(), "the script ended before its child began");
                thread::sleep(POLL);
            }
            let child = std::fs::read_to_string(&note).unwrap().trim().to_owned();
            stop.stop();
            assert!(matches!(run.join().unwrap(), Err(BundleError::Stopped)));
            child
        });
        // A process that was killed may wait for its parent to notice: then it has no command line any more.
        let is_there = || std::fs::read(format!("/proc/{child}/cmdline")).is_ok_and(|line| !line.is_empty());
        let started = Instant::now();
        while is_there() {
            assert!(started.elapsed() < Duration::from_mins(1), "{child} is still there");
            thread::sleep(POLL);
        }
        let late = shell("sleep 600").within(Duration::from_millis(100)).output(dir.path(), &asked).err().unwrap();
        assert!(late.to_string().contains("no end after"), "{late}");
    }
}
