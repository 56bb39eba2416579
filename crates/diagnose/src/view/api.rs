//! How an API server answers a client that only asks for its health and trusts only the cluster's CA.

use std::{error::Error, io, net::SocketAddr, time::Duration};

use tls::Distrust;

/// A machine of the same network answers at once or not at all.
const LIMIT: Duration = Duration::from_secs(3);

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ApiAnswer {
    /// It serves.
    Ready,
    /// It answers; these checks of its own fail, or it reports so without naming any.
    NotReady(Vec<String>),
    /// It was reached and not believed.
    Distrusted(Distrust),
    /// The machine is up, nothing listens.
    Refused,
    /// Nothing came back, and the error of the system.
    Silent(String),
}

/// Asks one API server.
pub(crate) async fn ask_api(server: SocketAddr, ca_pem: &str) -> Result<ApiAnswer, String> {
    let http = tls::client(ca_pem, None).map_err(|error| explain::chain(&error))?;
    let answer = match http.get(format!("https://{server}/readyz?verbose")).timeout(LIMIT).send().await {
        Ok(answer) => answer,
        Err(error) => return Ok(failure(&error, error.is_timeout())),
    };
    if answer.status().is_success() {
        return Ok(ApiAnswer::Ready);
    }
    Ok(ApiAnswer::NotReady(failing(&answer.text().await.unwrap_or_default())))
}

fn failure(error: &(dyn Error + 'static), is_timeout: bool) -> ApiAnswer {
    if let Some(distrust) = tls::distrust(error) {
        return ApiAnswer::Distrusted(distrust);
    }
    if is_timeout {
        return ApiAnswer::Silent("no answer in time".to_owned());
    }
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    match last.downcast_ref::<io::Error>().map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionRefused) => ApiAnswer::Refused,
        _ => ApiAnswer::Silent(last.to_string()),
    }
}

/// The names of the checks that fail, each of which is a line such as `[-]etcd failed: reason withheld`.
fn failing(body: &str) -> Vec<String> {
    let checks = body.lines().filter_map(|line| line.strip_prefix("[-]")?.split_whitespace().next());
    checks.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_checks_are_named() {
        let body = "[+]ping ok\n[-]etcd failed: reason withheld\n[+]log ok\n[-]etcd-readiness failed: reason withheld\nreadyz check failed\n";
        assert_eq!(failing(body), ["etcd", "etcd-readiness"]);
        assert!(failing("Unauthorized").is_empty());
    }

    #[test]
    fn failures_are_distinguished() {
        let refused = io::Error::other(io::Error::from(io::ErrorKind::ConnectionRefused));
        assert!(matches!(failure(&refused, true), ApiAnswer::Silent(_)));
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert_eq!(failure(&refused, false), ApiAnswer::Refused);
        let unroutable = io::Error::from(io::ErrorKind::HostUnreachable);
        assert_eq!(failure(&unroutable, false), ApiAnswer::Silent("host unreachable".into()));
    }
}
