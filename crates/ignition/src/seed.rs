//! What only the bootstrap node has. The paths are those that people know from other installers.

use crate::File;

const BOOTKUBE: &str = "/opt/openshift/bootkube.sh";
const CRICTL: &str = "/etc/crictl.yaml";

const SCRIPT: &str = "#!/bin/sh\necho 'Starting bootkube.sh...'\nexec /usr/local/bin/blackstart bootstrap run\n";
const CRICTL_TEXT: &str = "runtime-endpoint: unix:///run/containerd/containerd.sock\n\
                           image-endpoint: unix:///run/containerd/containerd.sock\n";

/// The script that `bootkube.service` runs, and the setting with which `crictl` finds containerd.
pub(crate) fn files() -> Vec<File> {
    vec![File::new(BOOTKUBE, 0o755, SCRIPT.as_bytes()), File::new(CRICTL, 0o644, CRICTL_TEXT.as_bytes())]
}
