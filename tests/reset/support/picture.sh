# Everything that can be seen of a machine, one line each, in an order of its own.

# Files with type, mode, owner, size and where a link leads. What the kernel makes up is seen below, by kind.
find / \( -path /proc -o -path /sys -o -path /dev \) -prune -o \
    -type d -printf 'file %p d %m %u:%g\n' -o \
    -type l -printf 'file %p l %u:%g -> %l\n' -o \
    -type f -printf 'file %p f %m %u:%g %s\n' -o \
    -printf 'file %p %y %m %u:%g\n'

# What is in them. Programs are compared by size.
find / \( -path /proc -o -path /sys -o -path /dev -o -path /usr -o -path /opt/blackstart/bundles \) -prune -o \
    -type f -print0 | xargs -0 sha256sum | sed 's/^\([0-9a-f]*\)  \(.*\)/content \2 \1/'

sed 's/^[0-9]* [0-9]* [0-9:]* \([^ ]*\) \([^ ]*\) .* - \([^ ]*\) .*/mount \2 \3 \1/' /proc/self/mountinfo
ip -o link | sed 's/^[0-9]*: \([^:@]*\).*/link \1/'
ip -o address | awk '{ print "address", $2, $3, $4 }'
for family in -4 -6; do ip $family route show table all | sed "s/^/route $family /; s/ expires [0-9a-z]*//"; done
ip rule | sed 's/^/rule /'
ip netns | sed 's/^/network namespace /'
nft list ruleset | sed 's/counter packets [0-9]* bytes [0-9]*/counter/; s/^/nft /'
find /sys/fs/cgroup -mindepth 2 -type d | sed 's/^/group /'
# Those of a machine's own namespaces. What a kubelet sets for the whole kernel (kernel.panic and the like) belongs to the
# computer that all machines share, and is put back by the lab; `crates/playbooks/src/cluster/owned_resources.rs` does it on metal.
for name in net.ipv4.ip_forward net.ipv6.conf.all.forwarding kernel.hostname net.ipv4.conf.all.rp_filter \
    net.ipv4.conf.all.route_localnet net.ipv4.conf.default.forwarding; do
    echo "setting $name = $(sysctl -n $name)"
done
getent passwd | sed 's/^/user /'
getent group | sed 's/^/group of users /'
nmcli -t -f NAME,UUID,TYPE,DEVICE,FILENAME connection | sed 's/^/connection /'
ss -Hlntu | awk '{ print "port", $1, $5 }'
systemctl list-units --all --plain --no-legend | awk '{ print "unit", $1, $2, $3, $4 }'
systemctl list-unit-files --plain --no-legend | awk '{ print "unit file", $1, $2 }'
for dir in /proc/[0-9]*; do
    line=$(tr '\0' ' ' < $dir/cmdline 2> /dev/null)
    [ -z "$line" ] || echo "process $line"
done
