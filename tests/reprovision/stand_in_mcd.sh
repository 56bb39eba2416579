#!/bin/sh
# Stands in for the machine-config-daemon of a payload's image. Like it, it copies itself to the host and goes on there.
set -eu
name=$(sed -n 's/^name="\(.*\)"$/\1/p' /run/.containerenv)
mkdir -p /rootfs/run/bin
cp /usr/libexec/stand_in_mcd.py /rootfs/run/bin/machine-config-daemon
exec chroot /rootfs /usr/bin/env CONTAINER="$name" PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /usr/bin/python3 /run/bin/machine-config-daemon "$@"
