"""Stands in for the machine-config-daemon, on the host: what it is documented to do with a MachineConfig, in its order.

firstboot-complete-machineconfig --persist-nics                  notes the names of network devices
firstboot-complete-machineconfig [--machineconfig-file FILE]     writes files and units, stages the system, notes `currentconfig`, reboots
Like the real one it tries again for ever after any error; it pauses for seconds in place of a minute. How it misbehaves is said by
the payload's file /etc/stand-in/daemon: `fails` before it stages anything, or `no reboot` at its end. Each start is a line of CALLS.
"""
import base64
import datetime
import gzip
import json
import os
import pwd
import subprocess
import sys
import time
import urllib.parse

CALLS = "/var/lib/stand-in-mcd"
ENCAPSULATED = "/etc/ignition-machine-config-encapsulated.json"
MODE = "/etc/stand-in/daemon"
NOTES = "/etc/machine-config-daemon"
UNITS = "/etc/systemd/system/"
PAUSE = 7


def say(text):
    now = datetime.datetime.now().strftime("%m%d %H:%M:%S.%f")
    print(f"I{now} {os.getpid():7} stand_in.py:1] {text}", file=sys.stderr, flush=True)


def run(*words):
    say("Running: " + " ".join(words))
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def write(path, content, mode=0o644, owner=(0, 0)):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "wb") as file:
        file.write(content)
        os.fchmod(file.fileno(), mode)
        os.fchown(file.fileno(), *owner)
    os.replace(path + ".new", path)


def decoded(source, compression):
    kind, content = source.removeprefix("data:").split(",", 1)
    content = urllib.parse.unquote_to_bytes(content)
    content = base64.b64decode(content) if kind.endswith(";base64") else content
    return gzip.decompress(content) if compression == "gzip" else content


def content(file):
    contents = file.get("contents") or {}
    return decoded(contents.get("source") or "data:,", contents.get("compression"))


def files(config):
    for file in config.get("storage", {}).get("files", []):
        path = file["path"]
        if not os.path.lexists(path):
            write(f"{NOTES}/noorig{path}.mcdnoorig", b"")
        write(path, content(file), file.get("mode", 0o644))


def units(config):
    for unit in config.get("systemd", {}).get("units", []):
        name = unit["name"]
        for dropin in unit.get("dropins", []):
            write(f"{UNITS}{name}.d/{dropin['name']}", dropin["contents"].encode())
        if unit.get("mask"):
            if os.path.lexists(UNITS + name):
                os.remove(UNITS + name)
            os.symlink("/dev/null", UNITS + name)
        elif unit.get("contents"):
            write(UNITS + name, unit["contents"].encode())
        if "enabled" in unit:
            run("systemctl", "enable" if unit["enabled"] else "disable", name)


def keys(config):
    for user in config.get("passwd", {}).get("users", []):
        known = pwd.getpwnam(user["name"])
        lines = "\n".join(user.get("sshAuthorizedKeys", []))
        path = known.pw_dir + "/.ssh/authorized_keys.d/ignition"
        write(path, lines.encode(), 0o600, (known.pw_uid, known.pw_gid))


def complete(path):
    os.makedirs("/run/ostree", exist_ok=True)
    if not os.path.lexists("/run/ostree/auth.json"):
        os.symlink("/var/lib/kubelet/config.json", "/run/ostree/auth.json")
    run("rpm-ostree", "status", "--json")
    with open(path, "rb") as file:
        given = file.read()
    write(CALLS + "/given.json", given, 0o600)
    machine_config = json.loads(given)
    spec = machine_config["spec"]
    mode = [content(file) for file in spec["config"]["storage"]["files"] if file["path"] == MODE]
    if "container" not in run("rpm-ostree", "--version"):
        raise RuntimeError("rpm-ostree is too old")
    has = run("rpm-ostree", "kargs").split()
    files(spec["config"])
    units(spec["config"])
    os.chmod("/etc/kubernetes/kubeconfig", 0o600)
    keys(spec["config"])
    if mode == [b"fails"]:
        raise RuntimeError("failed to update OS: the stand-in is told to fail")
    run("rpm-ostree", "cleanup", "-p")
    run("rpm-ostree", "rebase", "--experimental", "ostree-unverified-registry:" + spec["osImageURL"])
    wanted = [word for words in spec.get("kernelArguments") or [] for word in words.split() if word not in has]
    if wanted:
        run("rpm-ostree", "kargs", *["--append=" + word for word in wanted])
    write(NOTES + "/currentconfig", json.dumps(machine_config).encode())
    if path == ENCAPSULATED:
        os.rename(path, path + ".bak")
    if mode == [b"no reboot"]:
        raise RuntimeError("reboot command failed, something is seriously wrong")
    why = "Completing firstboot provisioning to " + machine_config["metadata"]["name"]
    say("initiating reboot: " + why)
    unit = "ostree-finalize-staged.service"
    run("systemd-run", "--unit", "machine-config-daemon-reboot", "--description", "machine-config-daemon: " + why,
        "-p", "Requires=" + unit, "-p", "After=" + unit, "/bin/sh", "-c", "systemctl reboot")
    # It ends here, and the machine goes down meanwhile.
    say("reboot successful")


def note_call():
    """By what podman was run, in its own words."""
    command = run("podman", "inspect", "--format", "{{json .Config.CreateCommand}}", os.environ["CONTAINER"])
    os.makedirs(CALLS, exist_ok=True)
    with open(CALLS + "/calls", "a") as calls:
        calls.write(command)


def main(words):
    if words[:1] != ["firstboot-complete-machineconfig"]:
        sys.exit(f"Error: unknown command {words}")
    note_call()
    match words[1:]:
        case ["--persist-nics"]:
            write("/etc/systemd/network/98-nmstate-stand-in.link", b"[Match]\nOriginalName=stand-in\n")
        case ["--machineconfig-file", path]:
            complete(path)
        case []:
            complete(ENCAPSULATED)
        case other:
            sys.exit(f"Error: unknown flag: {other}")


while True:
    try:
        main(sys.argv[1:])
        break
    except Exception as error:
        say(f"error: {error}")
        say("Sleeping 1 minute for retry")
        time.sleep(PAUSE)
