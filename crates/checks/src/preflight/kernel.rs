//! The kernel has what containers and services need: overlay file systems, `nf_tables` and settings that can be
//! changed.
//!
//! A module that is not loaded yet counts when the kernel finds it on its own. Bridge filters are not needed, and
//! forwarding is switched on by those who forward.

use host::CommandError;
use nodekit::kernel_modules::{Kernel, ModuleState};

use super::{Check, Context, problem};
use crate::{Checking, codes};

/// See [`super`].
pub(super) const CHECK: Check =
    Check::new("kernel", "the kernel has overlay, nf_tables and writable settings", &[codes::KERNEL_LACKS], check);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let mut lacks = Vec::new();
        let has_overlay = is_file_system(&context.required_text("/proc/filesystems")?, "overlay");
        if !has_overlay && Kernel::read(&*context.host.disk)?.state("overlay") == ModuleState::Absent {
            lacks.push("the overlay file system, which containers' images need (module `overlay`)".to_owned());
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
            // What is certain is worth more than what is not; that nft is missing, `programs` reports too.
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
    fn the_last_mount_counts() {
        let line = |options: &str| format!("31 29 0:5 /sys /proc/sys {options} shared:3 - proc proc rw\n");
        assert!(is_read_only(&line("ro,nosuid"), "/proc/sys"));
        assert!(!is_read_only(&(line("ro,nosuid") + &line("rw,nosuid")), "/proc/sys"));
        assert!(!is_read_only(&line("ro"), "/proc"));
    }
}
