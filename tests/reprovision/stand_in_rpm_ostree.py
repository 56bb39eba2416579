#!/usr/bin/python3
"""Stands in for rpm-ostree: the verbs that the machine-config-daemon and the driver `rhcos` call, over real ostree deployments.

status --json, --version, kargs, kargs --append=KEY=VALUE, cleanup -p, rebase ostree-unverified-registry:IMAGE, rollback

Real is the repository, and in it commits, deployments, pins, their order, the merge of /etc, the entries of the boot loader; and the
image, which is fetched from its registry by skopeo. Pretended is which deployment is booted: the machine has its own /usr, and the
/etc of the deployment that it is said to have booted. `stand-in-shutdown` and `stand-in-boot` do what the boot loader and systemd do
around a reboot: a deployment that is staged becomes one, and the first of the list is booted. A power cut loses what is staged.
"""
import json
import os
import subprocess
import sys
import tempfile

import gi

gi.require_version("OSTree", "1.0")
from gi.repository import OSTree  # noqa: E402

OS = "rhcos"
BOOTED = "/sysroot/stand-in-booted"
STAGED = "/run/stand-in-staged.json"
CMDLINE = "/run/stand-in-cmdline"
KEY = "container-image-reference"
# Directories of deployments can be removed like any other.
os.environ["OSTREE_SYSROOT_DEBUG"] = "mutable-deployments"


def run(*words, **more):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, **more).stdout.strip()


def sysroot():
    root = OSTree.Sysroot.new_default()
    root.load(None)
    return root


def name(deployment):
    return f"{deployment.get_csum()}.{deployment.get_deployserial()}"


def directory(deployment):
    return f"/ostree/deploy/{OS}/deploy/{name(deployment)}"


def booted():
    with open(BOOTED) as file:
        return file.read().strip()


def staged():
    try:
        with open(STAGED) as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def version(commit):
    return run("ostree", "show", "--repo=/ostree/repo", "--print-metadata-key=version", commit).strip("'")


def arguments(deployment):
    options = deployment.get_bootconfig().get("options") or ""
    return [word for word in options.split() if not word.startswith(("ostree=", "init="))]


def status():
    said = []
    if waiting := staged():
        commit = waiting["commit"]
        said.append({"osname": OS, "checksum": commit, "serial": 0, "booted": False, "staged": True, "pinned": False,
                     "version": version(commit), KEY: waiting["image"]})
    for one in sysroot().get_deployments():
        said.append({"osname": one.get_osname(), "checksum": one.get_csum(), "serial": one.get_deployserial(),
                     "booted": name(one) == booted(), "staged": False, "pinned": one.is_pinned(),
                     "version": version(one.get_csum()), KEY: one.get_origin().get_string("origin", KEY)})
    print(json.dumps({"deployments": said, "transaction": None}, indent=2))


def pulled(image):
    """The image's layers as a commit."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
        authfile = ["--authfile", "/run/ostree/auth.json"] if os.path.exists("/run/ostree/auth.json") else []
        run("skopeo", "copy", "--quiet", *authfile, f"docker://{image}", f"dir:{made}")
        with open(made + "/manifest.json") as file:
            manifest = json.load(file)
        file = lambda part: made + "/" + part["digest"].removeprefix("sha256:")  # noqa: E731
        with open(file(manifest["config"])) as config:
            labels = json.load(config)["config"].get("Labels") or {}
        trees = [f"--tree=tar={file(layer)}" for layer in manifest["layers"]]
        said = labels.get("version", "stand-in")
        return run("ostree", "commit", "--repo=/ostree/repo", "--branch=stand-in", "--owner-uid=0", "--owner-gid=0",
                   "--tar-autocreate-parents", f"--add-metadata-string=version={said}", *trees)


def deploy(commit, image, kargs):
    with tempfile.NamedTemporaryFile("w") as origin:
        origin.write(f"[origin]\n{KEY}={image}\n")
        origin.flush()
        run("ostree", "admin", "deploy", f"--os={OS}", f"--origin-file={origin.name}",
            *[f"--karg={word}" for word in kargs], commit)


def first_arguments():
    for one in sysroot().get_deployments():
        if name(one) == booted():
            return arguments(one)
    return []


def rebase(reference):
    image = reference.removeprefix("ostree-unverified-registry:")
    stage({"commit": pulled(image), "image": reference, "kargs": first_arguments()})


def stage(what):
    with open(STAGED, "w") as file:
        json.dump(what, file)


def append(words):
    what = staged()
    if not what:
        sys.exit("error: the stand-in changes arguments of the kernel only of what is staged")
    stage(what | {"kargs": what["kargs"] + words})


def cleanup():
    if os.path.exists(STAGED):
        os.remove(STAGED)
    root = sysroot()
    all_of = root.get_deployments()
    first = next(at for at, one in enumerate(all_of) if name(one) == booted())
    if first > 0:
        root.write_deployments(all_of[first:], None)


def rollback():
    root = sysroot()
    all_of = root.get_deployments()
    at = next(at for at, one in enumerate(all_of) if name(one) == booted()) + 1
    if at >= len(all_of):
        sys.exit("error: no deployment to roll back to")
    root.write_deployments([all_of[at]] + all_of[:at] + all_of[at + 1:], None)


def copy_etc(source, target):
    run("find", target, "-mindepth", "1", "-delete")
    run("cp", "--archive", source + "/.", target)


def shutdown():
    now = [one for one in sysroot().get_deployments() if name(one) == booted()]
    copy_etc("/etc", directory(now[0]) + "/etc")
    if what := staged():
        deploy(what["commit"], what["image"], what["kargs"])
        os.remove(STAGED)
    first = sysroot().get_deployments()[0]
    if name(first) != booted():
        copy_etc(directory(first) + "/etc", "/etc")
        boot(first)


def boot(deployment):
    with open(BOOTED, "w") as file:
        file.write(name(deployment))


def show_arguments():
    # Of the last time, where this is no new boot.
    subprocess.run(["umount", "/proc/cmdline"], stderr=subprocess.DEVNULL)
    with open("/proc/cmdline") as file:
        words = file.read().split()
    with open(CMDLINE, "w") as file:
        file.write(" ".join(words + first_arguments()) + "\n")
    run("mount", "--bind", CMDLINE, "/proc/cmdline")


def reset(image, *kargs):
    """Only this image is deployed, and booted."""
    if os.path.exists(STAGED):
        os.remove(STAGED)
    if not os.path.isdir("/ostree/repo"):
        run("ostree", "admin", "init-fs", "--modern", "/sysroot")
        run("ostree", "admin", "os-init", OS)
    sysroot().write_deployments([], None)
    commit = pulled(image)
    deploy(commit, "ostree-unverified-registry:" + image, kargs)
    first = sysroot().get_deployments()[0]
    run("cp", "--archive", directory(first) + "/etc/.", "/etc")
    boot(first)


match sys.argv[1:]:
    case ["status", "--json"]:
        status()
    case ["--version"]:
        print("rpm-ostree:\n Version: 'stand-in'\n Features:\n  - container")
    case ["kargs"]:
        print(" ".join(first_arguments()))
    case ["kargs", *words] if words and all(word.startswith("--append=") for word in words):
        append([word.removeprefix("--append=") for word in words])
    case ["cleanup", "-p" | "--pending"]:
        cleanup()
    case ["rebase", "--experimental", reference] | ["rebase", reference]:
        rebase(reference)
    case ["rollback"]:
        rollback()
    case ["stand-in-shutdown"]:
        shutdown()
    case ["stand-in-boot"]:
        show_arguments()
    case ["stand-in-reset", image, *kargs]:
        reset(image, *kargs)
    case other:
        sys.exit(f"error: the stand-in for rpm-ostree does not know {other}")
