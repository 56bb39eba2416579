//! What cases have in common when they break something with a line of shell.
//!
//! Whatever a case takes away it keeps in `/run/kept`, and puts back from there.

/// Shell functions that cases share, and the line that uses them.
macro_rules! with_tools {
    ($line:expr) => {
        concat!(
            r#"
keep() { mkdir -p /run/kept; for f; do cp -a "$f" "/run/kept/$(echo "$f" | tr / _)"; done; }
back() { for f; do mv "/run/kept/$(echo "$f" | tr / _)" "$f"; done; }
names() { openssl x509 -noout -ext subjectAltName -in "$1" | tail -n 1 | sed 's/IP Address/IP/g; s/ //g'; }
# The API server's certificate again, by the cluster's own CA: names, first day, last day.
sign() {
  d=$(mktemp -d); : > "$d/db"
  printf '[ca]\ndefault_ca=c\n[c]\ndatabase=%s/db\nnew_certs_dir=%s\nrand_serial=yes\ndefault_md=sha256\npolicy=p\n' "$d" "$d" > "$d/cnf"
  printf '[p]\ncommonName=supplied\n[e]\nextendedKeyUsage=serverAuth\nsubjectAltName=%s\n' "$1" >> "$d/cnf"
  openssl req -new -key "$PKI/apiserver.key" -subj /CN=kube-apiserver -out "$d/csr"
  openssl ca -batch -config "$d/cnf" -extensions e -cert "$PKI/ca.crt" -keyfile "$PKI/ca.key" -in "$d/csr" \
    -startdate "$2" -enddate "$3" -notext -out "$d/crt"
  cat "$d/crt" > "$PKI/apiserver.crt"
}
# An unknown CA: key and certificate.
stranger() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1" -out "$2" -subj /CN=kubernetes -days 9
}
etcd_api() {
  curl -sS --fail --cacert $PKI/etcd/ca.crt --cert $PKI/etcd/healthcheck-client.crt --key $PKI/etcd/healthcheck-client.key "$@"
}
ctl() {
  etcdctl --command-timeout 5s --cacert $PKI/etcd/ca.crt --cert $PKI/etcd/healthcheck-client.crt --key $PKI/etcd/healthcheck-client.key "$@"
}
# etcd refuses a change for some seconds after another one.
change() { until ctl member "$@"; do sleep 0.3; done; }
PKI=/etc/kubernetes/pki CONFIG=/etc/cluster-config
"#,
            $line
        )
    };
}

/// A line of shell with the tools above.
macro_rules! sh {
    ($line:expr) => {
        Deed::Sh(with_tools!($line))
    };
}

/// Something done on a machine that is not the one that is asked.
macro_rules! on {
    ($machine:expr, $line:expr) => {
        Deed::By(|bench| drop(bench.sh($machine, with_tools!($line))))
    };
}
