//! The kubelet and containerd make control groups in the same way.

use crate::{Check, Checking, Context, Finding, Part, codes::CGROUP_DRIVER};

/// See [`super`].
pub(crate) const CHECK: Check =
    Check::new("cgroup-driver", "the cgroup drivers of the kubelet and containerd", &[CGROUP_DRIVER], check);

const KUBELET: &str = "/var/lib/kubelet/config.yaml";
const CONTAINERD: &str = "/etc/containerd/config.toml";

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let (kubelet, containerd) = (context.text(KUBELET)?, context.text(CONTAINERD)?);
        Ok(kubelet
            .zip(containerd)
            .and_then(|(kubelet, containerd)| evaluate(&kubelet, &containerd))
            .into_iter()
            .collect())
    })
}

/// Where either does not say, its default holds, and that is not ours to know.
fn evaluate(kubelet: &str, containerd: &str) -> Option<Finding> {
    let of_kubelet = value(kubelet, "cgroupDriver", ':')?.trim_matches('"');
    let of_containerd = match value(containerd, "SystemdCgroup", '=')? {
        "true" => "systemd",
        _ => "cgroupfs",
    };
    let evidence = format!("cgroup driver mismatch: {KUBELET} has `{of_kubelet}`, {CONTAINERD} has `{of_containerd}`");
    (of_kubelet != of_containerd).then(|| Finding::cause(CGROUP_DRIVER, Part::Kubelet, evidence))
}

/// What stands after `key:` or `key =` in the last line that has it.
fn value<'a>(text: &'a str, key: &str, separator: char) -> Option<&'a str> {
    let mut entries = text.lines().filter_map(|line| line.split_once(separator));
    entries.rfind(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_two_different_answers_are_wrong() {
        for (kubelet, containerd, is_wrong) in [
            ("cgroupDriver: cgroupfs\n", "  SystemdCgroup = false\n", false),
            ("cgroupDriver: \"systemd\"\n", "SystemdCgroup = true\n", false),
            ("cgroupDriver: cgroupfs\n", "SystemdCgroup = true\n", true),
            ("cgroupDriver: systemd\n", "SystemdCgroup = false\n", true),
            ("kind: KubeletConfiguration\n", "SystemdCgroup = true\n", false),
            ("cgroupDriver: systemd\n", "version = 3\n", false),
        ] {
            assert_eq!(evaluate(kubelet, containerd).is_some(), is_wrong, "{kubelet}{containerd}");
        }
    }
}
