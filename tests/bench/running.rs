//! A command that is being measured.

use std::{
    fs::File,
    io::{Read, Seek},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use jiff::Timestamp;

/// A command, and when it was started.
pub(crate) struct Running {
    child: Child,
    /// Files and not pipes: there is no reader while we look at the cluster.
    out: File,
    err: File,
    began: Instant,
    /// The same moment by the clock that the machines see too.
    pub(crate) began_at: Timestamp,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let (out, err) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        command.stdin(Stdio::null()).stdout(out.try_clone().unwrap()).stderr(err.try_clone().unwrap());
        let (began, began_at) = (Instant::now(), Timestamp::now());
        Self { child: command.spawn().unwrap(), out, err, began, began_at }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// A tool that failed will not get there by waiting.
    pub(crate) fn assert_well(&mut self) {
        let status = self.child.try_wait().unwrap();
        assert!(status.is_none_or(|status| status.success()), "{status:?}: {}", text(&mut self.err));
    }

    /// Waits for its end; returns what it printed.
    pub(crate) fn finish(mut self) -> String {
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {}", text(&mut self.err));
        text(&mut self.out)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended, or its machine is about to.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(file: &mut File) -> String {
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}
