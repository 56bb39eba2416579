//! What only the bootstrap node has. The path is the one that people know from other installers.

use crate::File;

const BOOTKUBE: &str = "/opt/openshift/bootkube.sh";

const SCRIPT: &str = "#!/bin/sh\necho 'Starting bootkube.sh...'\nexec /usr/local/bin/blackstart node up\n";

/// The script that `bootkube.service` runs.
pub(crate) fn files() -> Vec<File> {
    vec![File::new(BOOTKUBE, 0o755, SCRIPT.as_bytes())]
}
