//! The Go program: compiled once, asked in frames.

use std::{
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    thread,
};

/// Compiles it. Without Go nothing can be compared, and that must not look like success.
pub(crate) fn build() -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("requests");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential/go");
    let built = Command::new("go")
        .args(["build", "-buildvcs=false", "-o"])
        .args([&program, Path::new(".")])
        .current_dir(source)
        .envs([("GOTOOLCHAIN", "local"), ("GOPROXY", "off"), ("GOFLAGS", ""), ("CGO_ENABLED", "0")])
        .output()
        .unwrap_or_else(|error| {
            panic!("this test compares us with Go and needs `go` (apt-get install golang-go): {error}")
        });
    assert!(built.status.success(), "go build: {}", String::from_utf8_lossy(&built.stderr));
    program
}

/// Honest requests.
pub(crate) fn honest(program: &Path, count: usize) -> Vec<Vec<u8>> {
    let made = Command::new(program).args(["make", &count.to_string()]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut rest = &made.stdout[..];
    (0..count).map(|_| frame(&mut rest)).collect()
}

/// A running reader.
pub(crate) struct Reader {
    child: Child,
    answers: ChildStdout,
}

impl Reader {
    pub(crate) fn start(program: &Path) -> Self {
        let mut child = Command::new(program).arg("read").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let answers = child.stdout.take().unwrap();
        Self { child, answers }
    }

    /// How Go reads each of these.
    pub(crate) fn read(&mut self, texts: &[Vec<u8>]) -> Vec<String> {
        let questions = self.child.stdin.as_mut().unwrap();
        let answers = &mut self.answers;
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut all = Vec::new();
                for text in texts {
                    all.extend(u32::try_from(text.len()).unwrap().to_be_bytes());
                    all.extend(text);
                }
                questions.write_all(&all).unwrap();
                questions.flush().unwrap();
            });
            texts.iter().map(|_| String::from_utf8(frame(answers)).unwrap()).collect()
        })
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        drop(self.child.wait());
    }
}

fn frame(from: &mut impl Read) -> Vec<u8> {
    let mut length = [0; 4];
    from.read_exact(&mut length).expect("the Go program answers");
    let mut content = vec![0; u32::from_be_bytes(length) as usize];
    from.read_exact(&mut content).unwrap();
    content
}
