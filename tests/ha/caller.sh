# Calls the API through this machine's balancer, each time over a new connection, and notes what was acknowledged.
# usage: caller.sh DIRECTORY
dir=$1
mkdir -p "$dir"
conf=/root/caller.conf
field() { sed -n "s/^ *$1: //p" "$conf" | base64 -d; }
field certificate-authority-data >"$dir/ca"
field client-certificate-data >"$dir/cert"
field client-key-data >"$dir/key"
url=https://127.0.0.1:7443/api/v1/namespaces/default/configmaps
# Another caller may have been here before.
begun=$(date +%s)
number=0
while [ ! -e "$dir/stop" ]; do
    number=$((number + 1))
    name=write-$begun-$number
    body="{\"metadata\":{\"name\":\"$name\",\"labels\":{\"by\":\"caller\"}}}"
    status=$(curl -s -o /dev/null -w '%{http_code}' --max-time 5 --cacert "$dir/ca" --cert "$dir/cert" --key "$dir/key" \
        -H 'Content-Type: application/json' -d "$body" "$url")
    echo "$(date +%s%3N) $status $name" >>"$dir/log"
    sleep 0.05
done
