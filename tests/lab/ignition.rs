//! Machines that the real Ignition sets up before their first boot, from configs of ours.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use crate::support::{PROGRAM, TestLab, eventually, run, turn};

const VALIDATE: &str = "/var/cache/blackstart/ignition/bin/ignition-validate";
const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExample me@desk";
const RESULT: &str = "etc/.ignition-result.json";
/// Enough of them to be killed among.
const FILES: usize = 2000;

/// A lab of one machine of each kind, and a config for each of them.
struct Rendered {
    lab: TestLab,
    out: PathBuf,
    sealed: PathBuf,
    config: String,
    server: String,
}

impl Rendered {
    fn new() -> Self {
        let lab = TestLab::unmade();
        let shape = ["--pivot", "--machines-only", "--masters", "1", "--workers", "1"];
        lab.run("up", &shape).ok();
        let [config, sealed, out, key] = ["config", "sealed", "ign", "key.pub"].map(|name| lab.dir().join(name));
        let [config, shown_sealed, shown_out, shown_key] = [&config, &sealed, &out, &key].map(|path| show(path));
        fs::write(&key, format!("{KEY}\n")).unwrap();
        run(PROGRAM, &["config", "seal", &config, "--out", &shown_sealed]).ok();
        let gateway = lab.status()["subnet"].as_str().unwrap().replace("0/24", "1");
        let server = format!("{gateway}:22623");
        let pointer = format!("https://{server}");
        let render = ["ignition", "render", &config, "--sealed", &shown_sealed, "--out", &shown_out];
        run(PROGRAM, &[&render[..], &["--ssh-key", &shown_key, "--pointer", &pointer]].concat()).ok();
        Self { lab, out, sealed, config, server }
    }

    fn ignite(&self, machine: &str, dir: &Path) {
        self.lab.run("wipe", &["--yes", machine, "--ignition", &show(dir)]).ok();
        self.lab.run("up", &["--machines-only"]).ok();
    }

    fn of(&self, machine: &str, file: &str) -> PathBuf {
        self.lab.dir().join("machines").join(machine).join(file)
    }

    /// That a machine is what its config says, and that nothing of the config is left beside it.
    fn assert_set_up(&self, machine: &str) {
        let line = "cat /etc/hostname; hostname; id -un core; cat /home/core/.ssh/authorized_keys; \
                    stat -c '%a %U %n' /home/core/.ssh /etc/cluster-config /etc/cluster-config/join-secret \
                    /etc/sudoers.d/blackstart-core";
        let expected = format!(
            "{machine}\n{machine}\ncore\n{KEY}\n700 core /home/core/.ssh\n700 root /etc/cluster-config\n\
             600 root /etc/cluster-config/join-secret\n440 root /etc/sudoers.d/blackstart-core"
        );
        let seen = self.lab.sh(machine, line);
        let without_blank: Vec<&str> =
            seen.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).collect();
        assert_eq!(without_blank.join("\n"), expected);
        let units = "systemctl --root=/ is-enabled cluster-detect blackstart-agent cluster-bootstrap";
        assert_eq!(self.lab.sh(machine, units), "enabled\nenabled\nenabled", "{machine}");
        let bootkube = self.lab.sh(machine, "systemctl --root=/ is-enabled bootkube 2>/dev/null || true");
        assert_eq!(bootkube, if machine == "bootstrap" { "enabled" } else { "" });
        assert!(self.lab.sh(machine, &format!("cat /{RESULT}")).contains("\"userConfigProvided\": true"));
        assert!(!self.of(machine, "config.ign").exists(), "it has done its work");
        let secret = fs::read_to_string(self.sealed.join(machine).join("join-secret")).unwrap();
        for file in ["ignition.log", "console.log"] {
            let text = fs::read_to_string(self.of(machine, file)).unwrap();
            assert!(!text.contains(secret.trim()) && !text.contains(proof_of(&secret)), "{file} of {machine}");
        }
    }
}

fn show(path: &Path) -> String {
    path.display().to_string()
}

fn proof_of(secret: &str) -> &str {
    secret.trim().rsplit('.').next().unwrap()
}

/// Ended with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_machine_of_each_kind_comes_up_from_its_config() {
    let _turn = turn();
    let rendered = Rendered::new();
    let Rendered { lab, out, .. } = &rendered;
    lab.run("wipe", &["--yes", "bootstrap", "master-01", "--ignition", &show(out)]).ok();

    // The worker gets so many files that it can be killed among them, and has to be set up again.
    let many = out.join("many");
    fs::create_dir(&many).unwrap();
    let mut config: Value = serde_json::from_slice(&fs::read(out.join("worker-01.ign")).unwrap()).unwrap();
    let padding = (0..FILES).map(|number| {
        let source = format!("data:,{number}");
        json!({ "path": format!("/etc/padding/{number:04}"), "mode": 384, "overwrite": true, "contents": { "source": source } })
    });
    config["storage"]["files"].as_array_mut().unwrap().extend(padding);
    fs::write(many.join("worker-01.ign"), config.to_string()).unwrap();
    lab.run("wipe", &["--yes", "worker-01", "--ignition", &show(&many)]).ok();
    let mut up = lab.command("up").arg("--machines-only").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("Ignition is among the files", || rendered.of("worker-01", "upper/etc/padding/0100").exists());
    lab.run("kill", &["worker-01"]).ok();
    let written = fs::read_dir(rendered.of("worker-01", "upper/etc/padding")).unwrap().count();
    assert!(written < FILES, "it was killed in the middle, and wrote {written}");
    assert!(!rendered.of("worker-01", "upper").join(RESULT).exists());
    assert!(rendered.of("worker-01", "config.ign").exists(), "it is still to be done");
    up.wait().unwrap();
    lab.run("up", &["--machines-only"]).ok();
    let sum = "cat /etc/padding/* | sha256sum; ls /etc/padding | wc -l; stat -c %a /etc/padding/* | sort -u";
    let all: String = (0..FILES).map(|number| number.to_string()).collect();
    fs::write(lab.dir().join("all"), all).unwrap();
    let expected = run("sha256sum", &[&show(&lab.dir().join("all"))]).ok();
    let expected = expected.split_whitespace().next().unwrap().to_owned();
    assert_eq!(lab.sh("worker-01", sum), format!("{expected}  -\n{FILES}\n600"));

    for machine in ["bootstrap", "master-01", "worker-01"] {
        rendered.assert_set_up(machine);
        for dir in [out.clone(), out.join("pointers")] {
            let validated = run(VALIDATE, &[&show(&dir.join(format!("{machine}.ign")))]);
            assert_eq!(
                (validated.code, validated.out.as_str(), validated.err.as_str()),
                (Some(0), "", ""),
                "{machine}"
            );
        }
    }

    // What Ignition refuses is reported, without what is in it, and fixed by a better config.
    let broken = out.join("broken");
    fs::create_dir(&broken).unwrap();
    config["ignition"]["version"] = json!("9.9.0");
    fs::write(broken.join("worker-01.ign"), config.to_string()).unwrap();
    lab.run("wipe", &["--yes", "worker-01", "--ignition", &show(&broken)]).ok();
    let refused = lab.run("up", &["--machines-only"]);
    assert!(
        refused.code == Some(1) && format!("{refused:?}").contains("Ignition's stage `fetch-offline` failed"),
        "{refused:?}"
    );
    lab.run("wipe", &["--yes", "worker-01", "--ignition", &show(&out.join("nowhere"))]).refused(1, "BS-LAB-021");
}

#[test]
fn a_machine_with_nothing_but_a_pointer_fetches_its_config() {
    let _turn = turn();
    let rendered = Rendered::new();
    let Rendered { lab, out, sealed, config, server } = &rendered;
    let log = lab.dir().join("serve.log");
    let serve = ["ignition", "serve", config, "--sealed", &show(sealed), "--configs", &show(out)];
    let child = Command::new(PROGRAM)
        .args(serve)
        .args(["--listen", server])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let _server = Server(child);
    rendered.ignite("worker-01", &out.join("pointers"));
    rendered.assert_set_up("worker-01");
    // A proof of one node is none of another: this one gets nothing, and does not boot.
    let crossed = out.join("crossed");
    fs::create_dir(&crossed).unwrap();
    let text = fs::read_to_string(out.join("pointers/worker-01.ign")).unwrap();
    fs::write(crossed.join("master-01.ign"), text.replace("/config/worker-01", "/config/master-01")).unwrap();
    lab.run("wipe", &["--yes", "master-01", "--ignition", &show(&crossed)]).ok();
    let refused = lab.run("up", &["--machines-only"]);
    assert!(
        refused.code == Some(1) && format!("{refused:?}").contains("Ignition's stage `fetch` failed"),
        "{refused:?}"
    );
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("a node was given its config") && log.contains("refused: config"), "{log}");
    for node in ["worker-01", "master-01"] {
        let secret = fs::read_to_string(sealed.join(node).join("join-secret")).unwrap();
        assert!(!log.contains(proof_of(&secret)) && !log.contains("Bearer"), "{log}");
    }
}
