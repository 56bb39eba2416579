# Calls the API through this machine's balancer, each time over a new connection, and notes what was answered: one loop
# writes, another one only reads. A line is: when, the answer's status, what was called, curl's own exit status, seconds.
# usage: caller.sh DIRECTORY
dir=$1
mkdir -p "$dir"
conf=/root/caller.conf
field() { sed -n "s/^ *$1: //p" "$conf" | base64 -d; }
field certificate-authority-data >"$dir/ca"
field client-certificate-data >"$dir/cert"
field client-key-data >"$dir/key"
url=https://127.0.0.1:7443/api/v1/namespaces/default/configmaps
# usage: call LOG NAME CURL-ARGUMENTS...
call() {
    log=$1 name=$2
    shift 2
    set -- $(curl -s -o /dev/null -w '%{http_code} %{exitcode} %{time_total}' --max-time 5 \
        --cacert "$dir/ca" --cert "$dir/cert" --key "$dir/key" "$@")
    echo "$(date +%s%3N) $1 $name $2 $3" >>"$log"
    sleep 0.05
}
while [ ! -e "$dir/stop" ]; do
    call "$dir/reads" read "$url/kube-root-ca.crt"
done &
# Another caller may have been here before.
begun=$(date +%s)
number=0
while [ ! -e "$dir/stop" ]; do
    number=$((number + 1))
    name=write-$begun-$number
    body="{\"metadata\":{\"name\":\"$name\",\"labels\":{\"by\":\"caller\"}}}"
    call "$dir/log" "$name" -H 'Content-Type: application/json' -d "$body" "$url"
done
