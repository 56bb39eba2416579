//! The kernel has what containers and services need: overlay file systems, `nf_tables` and settings that can be
//! changed.
//!
//! A module that is not loaded yet counts when the kernel finds it on its own. Bridge filters are not needed, and
//! forwarding is switched on by those who forward.

use host::CommandError;

use super::{Check, Context, problem};
use crate::{Checking, codes};

/// See [`super`].
pub(super) const CHECK: Check =
    Check::new("kernel", "the kernel has overlay, nf_tables and writable settings", &[codes::KERNEL_LACKS], check);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let mut lacks = Vec::new();
        if !is_file_system(&context.required_text("/proc/filesystems")?, "overlay") {
            let release = context.required_text("/proc/sys/kernel/osrelease")?;
            let modules = context.text(format!("/lib/modules/{}/modules.dep", release.trim()))?;
            if !modules.is_some_and(|modules| is_module(&modules, "overlay")) {
                lacks.push("the overlay file system, which containers' images need (module `overlay`)".to_owned());
            }
        }
        if is_read_only(&context.required_text("/proc/self/mountinfo")?, "/proc/sys") {
            lacks.push("writable settings: /proc/sys is mounted read-only".to_owned());
        }
        // Asking loads the module; there is no other way to know that works on every kernel.
        let tables = host::Cmd::new("nft").args(["list", "tables"]);
        let answer = context.host.commands.run(&tables).await;
        match answer {
            Err(CommandError::Failed { output, .. }) => {
                lacks.push(format!("nf_tables, which kube-proxy needs (module `nf_tables`): {output}"));
            }
            // What is certain is worth more than what is not; that nft is missing, `programs` tells too.
            Err(error) if lacks.is_empty() => return Err(error.into()),
            Err(_) | Ok(_) => {}
        }
        if lacks.is_empty() {
            return Ok(Vec::new());
        }
        Ok(problem(codes::KERNEL_LACKS, format!("the kernel lacks {}", lacks.join("; and "))))
    })
}

fn is_file_system(filesystems: &str, name: &str) -> bool {
    filesystems.lines().any(|line| line.split_whitespace().next_back() == Some(name))
}

fn is_module(modules_dep: &str, name: &str) -> bool {
    let files = modules_dep.lines().filter_map(|line| line.split(':').next()?.rsplit('/').next());
    files.into_iter().any(|file| file.split('.').next() == Some(name))
}

/// The last mount on a directory is the one that is seen.
fn is_read_only(mountinfo: &str, directory: &str) -> bool {
    let mut mounts = mountinfo.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let last = mounts.rfind(|fields| fields.get(4) == Some(&directory));
    last.is_some_and(|fields| fields.get(5).is_some_and(|options| options.split(',').any(|option| option == "ro")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems() {
        let text = "nodev\tsysfs\nnodev\toverlay\n\text4\n";
        assert!(is_file_system(text, "overlay") && is_file_system(text, "ext4"));
        assert!(!is_file_system(text, "nodev") && !is_file_system(text, "over"));
    }

    #[test]
    fn modules_that_could_be_loaded() {
        let text = "kernel/fs/overlayfs/overlay.ko.xz:\nkernel/net/vxlan.ko: kernel/net/udp_tunnel.ko\n";
        assert!(is_module(text, "overlay") && is_module(text, "vxlan"));
        assert!(!is_module(text, "udp_tunnel"), "what another one needs is on a line of its own");
    }

    #[test]
    fn the_last_mount_counts() {
        let line = |options: &str| format!("31 29 0:5 /sys /proc/sys {options} shared:3 - proc proc rw\n");
        assert!(is_read_only(&line("ro,nosuid"), "/proc/sys"));
        assert!(!is_read_only(&(line("ro,nosuid") + &line("rw,nosuid")), "/proc/sys"));
        assert!(!is_read_only(&line("ro"), "/proc"));
    }
}
