//! The complete proof, on a kernel that has iSCSI: a virtual machine with Debian's own.
//!
//! A machine without a network installs open-iscsi from a directory of packages, is ready, and logs in to a target on
//! itself: the disk that appears has the target's bytes, and a file system on it can be mounted. Nothing but the program
//! under test prepares the machine; the target is Debian's tgt. Emulated, so it takes minutes.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use crate::support::{CommandOutput, PROGRAM, run, turn};

/// Where the lab keeps the base image of its machines.
const BASE: &str = "/var/cache/blackstart/base";

/// Ends a machine that hangs.
const LONGEST: &str = "1200";

/// What happens in the machine, line by line on its console.
const PROOF: &str = r"#!/bin/sh
set -eu
trap 'echo PROOF ended with $?; systemctl poweroff' EXIT
blackstart prep iscsi --packages /packages
echo PROOF report $(tr -d '\n' < /var/lib/node-bootstrap/iscsi/report.json)
echo PROOF iscsid $(systemctl is-active iscsid) $(systemctl is-enabled iscsid)
blackstart prep iscsi --packages /packages 2>&1 | sed 's/^/PROOF again /'

dd if=/dev/urandom of=/var/tmp/disk bs=1M count=32 status=none
systemctl start tgt
tgtadm --lld iscsi --mode target --op new --tid 1 --targetname iqn.2026-11.example:disk
tgtadm --lld iscsi --mode logicalunit --op new --tid 1 --lun 1 --backing-store /var/tmp/disk
tgtadm --lld iscsi --mode target --op bind --tid 1 --initiator-address ALL
iscsiadm --mode discovery --type sendtargets --portal 127.0.0.1
iscsiadm --mode node --login
udevadm settle
disk=$(readlink -f /dev/disk/by-path/*iqn.2026-11.example:disk*)
cmp --bytes=33554432 /var/tmp/disk $disk && echo PROOF same bytes
mkfs.ext4 -q $disk
mount $disk /mnt
echo hello > /mnt/word
umount /mnt
mount $disk /mnt
echo PROOF read $(cat /mnt/word)
umount /mnt
iscsiadm --mode node --logout
echo PROOF logged out
";

/// The console is where it can be read from outside.
const UNIT: &str = "[Unit]\nDescription=The proof\n[Service]\nType=oneshot\nExecStart=/proof.sh\nStandardOutput=tty\n\
                    StandardError=tty\nTTYPath=/dev/ttyS0\n";

#[test]
#[ignore = "minutes of an emulated processor: in `cargo xtask test --full`, or with `--ignored`"]
fn a_stock_kernel_logs_in() {
    let _turn = turn();
    let needs = ["qemu-system-x86", "e2fsprogs"];
    run("apt-get", &[&["install", "--yes", "-q", "--no-install-recommends"], &needs[..]].concat()).ok();
    let work = tempfile::tempdir().unwrap();
    let root = machine(work.path());
    let console = boot(work.path(), &root).ok();
    let lines: Vec<&str> =
        console.lines().filter_map(|line| line.trim().split_once("PROOF ")).map(|(_, it)| it).collect();
    let report = lines.iter().find_map(|line| line.strip_prefix("report ")).unwrap_or_else(|| panic!("{console}"));
    let report: serde_json::Value = serde_json::from_str(report).unwrap();
    assert_eq!(report["state"], "ready", "{report}");
    let proof = report["seen"]["proof"].as_str().unwrap_or_default();
    assert!(proof.starts_with("a login"), "the program has logged in by itself: {report}");
    assert!(lines.iter().any(|line| line.starts_with("again ") && line.contains("nothing was changed")), "{lines:#?}");
    for expected in ["iscsid active enabled", "same bytes", "read hello", "logged out", "ended with 0"] {
        assert!(lines.contains(&expected), "{expected}: {lines:#?}");
    }
}

/// The files of a machine: the lab's base image, a kernel, a target, the packages to be installed and the program.
fn machine(work: &Path) -> PathBuf {
    let base = fs::read_dir(BASE).unwrap().map(|entry| entry.unwrap().path());
    let base = base.filter(|path| path.is_dir()).max().expect("a base image: `blackstart lab up` makes one");
    let root = work.join("root");
    let path = root.to_str().unwrap();
    run("cp", &["--archive", base.to_str().unwrap(), path]).ok();
    // Nothing is started while packages are set up: this is not the machine yet.
    write(&root.join("usr/sbin/policy-rc.d"), "#!/bin/sh\nexit 101\n", 0o755);
    fs::copy("/etc/resolv.conf", root.join("etc/resolv.conf")).unwrap();
    inside(path, "apt-get update -q");
    inside(path, "apt-get install --yes -q --no-install-recommends linux-image-amd64 initramfs-tools tgt");
    inside(path, "apt-get clean && apt-get install --yes -q --no-install-recommends --download-only open-iscsi");
    inside(path, "mkdir /packages && mv /var/cache/apt/archives/*.deb /packages && rm -rf /etc/apt/sources.list*");
    inside(path, "systemctl disable tgt");
    // open-iscsi makes the initial file system again when it is installed, which takes an emulated processor a quarter of an hour.
    inside(path, "echo update_initramfs=no > /etc/initramfs-tools/update-initramfs.conf");
    fs::remove_file(root.join("usr/sbin/policy-rc.d")).unwrap();
    fs::copy(PROGRAM, root.join("usr/local/bin/blackstart")).unwrap();
    write(&root.join("proof.sh"), PROOF, 0o755);
    write(&root.join("etc/systemd/system/proof.service"), UNIT, 0o644);
    inside(path, "ln -s ../proof.service /etc/systemd/system/multi-user.target.wants/proof.service");
    root
}

fn write(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A line of shell in the files of a machine that does not run. Mounts end with it.
fn inside(root: &str, line: &str) {
    let line =
        format!("mount -t proc proc {root}/proc && DEBIAN_FRONTEND=noninteractive chroot {root} sh -ec '{line}'");
    run("unshare", &["--mount", "sh", "-ec", &line]).ok();
}

/// Boots it with its own kernel and waits until it is off; what its console printed.
fn boot(work: &Path, root: &Path) -> CommandOutput {
    let (image, boot) = (work.join("root.img"), root.join("boot"));
    let image = image.to_str().unwrap();
    run("mke2fs", &["-q", "-t", "ext4", "-d", root.to_str().unwrap(), image, "4G"]).ok();
    let file = |prefix: &str| {
        let found = fs::read_dir(&boot).unwrap().map(|entry| entry.unwrap().path());
        let found = found.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(prefix)).max();
        found.unwrap_or_else(|| panic!("no {prefix}")).display().to_string()
    };
    let (kernel, initrd) = (file("vmlinuz-"), file("initrd.img-"));
    let drive = format!("file={image},if=virtio,format=raw,cache=unsafe");
    let options = "console=ttyS0 root=/dev/vda rw panic=-1 quiet systemd.mask=serial-getty@ttyS0.service";
    let machine = ["-accel", "tcg,thread=multi", "-cpu", "max", "-m", "1024", "-smp", "2", "-nographic", "-no-reboot"];
    let files = ["-kernel", &kernel, "-initrd", &initrd, "-drive", &drive, "-nic", "none", "-append", options];
    run("timeout", &[&[LONGEST, "qemu-system-x86_64"], &machine[..], &files[..]].concat())
}
