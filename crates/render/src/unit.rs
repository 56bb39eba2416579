//! systemd's unit files.
//!
//! What all our services share is here: they come back when they end, for ever, and start with the machine. Nothing is
//! escaped: whatever gets into a unit is a constant, a name or an address of a [`spec::ValidatedCluster`], and none of
//! those holds a space, a quote, `%` or `$`.

use std::fmt::Display;

use crate::service::{CONFIG_VARIABLE, RenderedFile, Service, config_hash};

/// Where the components of the bundle are.
const PROGRAMS: &str = "/usr/local/bin";

/// A unit file in the making.
pub(crate) struct Unit {
    name: &'static str,
    description: &'static str,
    wants: Vec<&'static str>,
    after: Vec<&'static str>,
    general: Vec<String>,
    service: Vec<String>,
}

impl Unit {
    /// A unit of this name, described in a few words.
    pub(crate) fn new(name: &'static str, description: &'static str) -> Self {
        Self { name, description, wants: Vec::new(), after: Vec::new(), general: Vec::new(), service: Vec::new() }
    }

    /// Another unit is started with it, in no order.
    pub(crate) fn wants(mut self, other: &'static str) -> Self {
        self.wants.push(other);
        self
    }

    /// If another unit is being started too, it waits for that one; and it stops before it.
    pub(crate) fn after(mut self, other: &'static str) -> Self {
        self.after.push(other);
        self
    }

    /// Another unit is started before it, but a failure of that one only delays it.
    pub(crate) fn follows(self, other: &'static str) -> Self {
        self.wants(other).after(other)
    }

    /// One more line of `[Unit]`.
    pub(crate) fn unit(mut self, key: &str, value: impl Display) -> Self {
        self.general.push(format!("{key}={value}"));
        self
    }

    /// One more line of `[Service]`.
    pub(crate) fn service(mut self, key: &str, value: impl Display) -> Self {
        self.service.push(format!("{key}={value}"));
        self
    }

    /// It uses the node's address, so it starts when the address is there. A network that never comes only delays it.
    pub(crate) fn follows_network(self) -> Self {
        self.follows("network-online.target").after("cluster-detect.service")
    }

    /// It changes nothing but its own data.
    pub(crate) fn confined(self) -> Self {
        self.service("NoNewPrivileges", "yes")
            .service("ProtectSystem", "full")
            .service("ProtectHome", "yes")
            .service("PrivateTmp", "yes")
    }

    /// What it runs.
    pub(crate) fn exec(self, command: &Command) -> Self {
        self.service("ExecStart", command.text())
    }

    /// Starts it again whenever it ends, with a pause but without a limit: a node heals by itself, however late.
    pub(crate) fn restarted(self, pause: &str) -> Self {
        self.unit("StartLimitIntervalSec", 0).service("Restart", "always").service("RestartSec", pause)
    }

    /// The finished service, with the hash of its configuration in its environment.
    pub(crate) fn into_service(mut self, files: Vec<RenderedFile>) -> Service {
        let config_hash = config_hash(&self.text(), &files);
        self.service.push(format!("Environment={CONFIG_VARIABLE}={config_hash}"));
        Service { name: self.name, unit: self.text(), files, config_hash }
    }

    fn text(&self) -> String {
        let section = |name: &str, lines: &[String]| format!("[{name}]\n{}\n", lines.join("\n"));
        let others = [("Wants", &self.wants), ("After", &self.after)];
        let mut general = vec![format!("Description={}", self.description)];
        general.extend(
            others
                .iter()
                .filter(|(_, units)| !units.is_empty())
                .map(|(key, units)| format!("{key}={}", units.join(" "))),
        );
        general.extend_from_slice(&self.general);
        [
            section("Unit", &general),
            section("Service", &self.service),
            section("Install", &["WantedBy=multi-user.target".to_owned()]),
        ]
        .join("\n")
    }
}

/// A command line: a program, sub-commands, options.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    program: String,
    words: Vec<String>,
    flags: Vec<String>,
}

impl Command {
    /// One of our programs.
    pub(crate) fn new(program: &str) -> Self {
        Self { program: program.to_owned(), words: Vec::new(), flags: Vec::new() }
    }

    /// One more word, such as a sub-command.
    pub(crate) fn word(mut self, word: &str) -> Self {
        self.words.push(word.to_owned());
        self
    }

    /// One more option.
    pub(crate) fn flag(mut self, name: &str, value: impl Display) -> Self {
        self.flags.push(format!("--{name}={value}"));
        self
    }

    /// For systemd, with one option per line.
    fn text(&self) -> String {
        let words = self.words.iter().map(|word| format!(" {word}"));
        let flags = self.flags.iter().map(|flag| format!(" \\\n  {flag}"));
        format!("{PROGRAMS}/{}", self.program) + &words.chain(flags).collect::<String>()
    }

    /// For programs that find this one by its name.
    pub(crate) fn words(&self) -> Vec<&str> {
        let all = std::iter::once(&self.program).chain(&self.words).chain(&self.flags);
        all.map(String::as_str).collect()
    }

    /// Options of the same kind.
    pub(crate) fn flags<V: Display>(self, flags: impl IntoIterator<Item = (&'static str, V)>) -> Self {
        flags.into_iter().fold(self, |command, (name, value)| command.flag(name, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(program: &str) -> Unit {
        Unit::new("sample.service", "A sample").exec(&Command::new(program).flag("a", 1).flags([("b", "2")]))
    }

    #[test]
    fn sections_and_options_read_well() {
        insta::assert_snapshot!(sample("sample").follows_network().restarted("2s").into_service(Vec::new()).unit);
    }

    #[test]
    fn the_hash_in_the_environment_changes_with_unit_and_files() {
        let plain = sample("sample").into_service(Vec::new());
        assert!(plain.unit.contains(&format!("\nEnvironment=BLACKSTART_CONFIG={}\n", plain.config_hash)));
        let other_unit = sample("other").into_service(Vec::new());
        let other_files = sample("sample").into_service(vec![RenderedFile::public("/etc/a", String::new())]);
        assert_ne!(plain.config_hash, other_unit.config_hash);
        assert_ne!(plain.config_hash, other_files.config_hash);
        assert_eq!(plain, sample("sample").into_service(Vec::new()));
    }
}
