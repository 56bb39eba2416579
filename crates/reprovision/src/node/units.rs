//! The host's two units.

use host::{Change, Cmd, Content, Host};

use super::NodeError;
use crate::paths;

/// Follows orders while the kubelet runs. A process that dies is started again; one that has nothing more to do stays away.
const FOLLOW: &str = "\
[Unit]
Description=Work on this node in place
After=network-online.target blackstart-reprovision-boot.service
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=/opt/blackstart-reprovision/blackstart reprovision node --node @NODE@
Restart=on-failure
RestartSec=2
Nice=10

[Install]
WantedBy=multi-user.target
";

/// Goes on before the kubelet. Only a oneshot is waited for: with any other type `Before=` counts the start of the process, and
/// the kubelet would run beside stage 2.
const BOOT: &str = "\
[Unit]
Description=Work on this node in place, before its kubelet
After=local-fs.target network-online.target
Wants=network-online.target
Before=kubelet.service
ConditionPathExists=/var/lib/blackstart-reprovision/note.json

[Service]
Type=oneshot
ExecStart=/opt/blackstart-reprovision/blackstart reprovision node --node @NODE@ --boot
TimeoutStartSec=infinity
RemainAfterExit=no

[Install]
WantedBy=multi-user.target
";

/// Both, for this node.
pub(crate) fn files(node: &str) -> [Change; 2] {
    [(paths::UNIT, FOLLOW), (paths::BOOT_UNIT, BOOT)].map(|(name, text)| Change::File {
        path: std::path::Path::new(paths::UNITS).join(name),
        mode: 0o644,
        content: Content::Plain(text.replace("@NODE@", node).into_bytes()),
    })
}

/// They come back with every boot from now on.
pub(crate) async fn enable(host: &Host) -> Result<(), NodeError> {
    systemctl(host, "enable").await
}

/// Nothing more to do at any boot.
pub(crate) async fn disable(host: &Host) -> Result<(), NodeError> {
    systemctl(host, "disable").await
}

async fn systemctl(host: &Host, verb: &str) -> Result<(), NodeError> {
    let command = Cmd::new("systemctl").args([verb, "--quiet", paths::UNIT, paths::BOOT_UNIT]);
    host.commands.run(&command).await.map_err(engine::StepError::from)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_before_the_kubelet_is_waited_for() {
        assert!(BOOT.contains("\nBefore=kubelet.service\n") && BOOT.contains("\nType=oneshot\n"));
        assert!(!FOLLOW.contains("Before=kubelet"));
        for text in [FOLLOW, BOOT] {
            assert!(text.contains(&format!("ExecStart={} reprovision node --node @NODE@", paths::PROGRAM)));
        }
        assert!(BOOT.contains(&format!("ConditionPathExists={}\n", paths::note().display())));
        assert!(FOLLOW.contains(paths::BOOT_UNIT));
    }
}
