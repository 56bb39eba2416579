//! A lock in etcd: its holder may change the membership. It goes away by itself when its holder does.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use serde::Deserialize;
use serde_json::json;

use crate::{Etcd, EtcdError, number};

/// A time for which something is kept, unless it is renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease(u64);

/// What came of trying to take a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lock {
    /// It is held now.
    Taken,
    /// Another master holds it.
    HeldBy(String),
}

#[derive(Deserialize)]
struct Granted {
    #[serde(rename = "ID", deserialize_with = "number")]
    id: u64,
}

#[derive(Deserialize)]
struct Renewed {
    result: Remaining,
}

#[derive(Deserialize)]
struct Remaining {
    /// Left out when it is zero: the lease has ended.
    #[serde(default, rename = "TTL")]
    ttl: Option<String>,
}

#[derive(Deserialize)]
struct Done {
    #[serde(default)]
    succeeded: bool,
    #[serde(default)]
    responses: Vec<Response>,
}

#[derive(Deserialize)]
struct Response {
    response_range: Option<Range>,
}

#[derive(Deserialize)]
struct Range {
    #[serde(default)]
    kvs: Vec<KeyValue>,
}

#[derive(Deserialize)]
struct KeyValue {
    #[serde(default)]
    value: String,
}

#[derive(Deserialize)]
struct Nothing {}

impl Etcd {
    /// A new lease.
    pub async fn grant(&self, ttl: Duration) -> Result<Lease, EtcdError> {
        let body = json!({ "TTL": ttl.as_secs().to_string() });
        Ok(Lease(self.call::<Granted>("/v3/lease/grant", body).await?.id))
    }

    /// Renews a lease; false if it has ended already.
    pub async fn keep_alive(&self, lease: Lease) -> Result<bool, EtcdError> {
        let body = json!({ "ID": lease.0.to_string() });
        let renewed: Renewed = self.call("/v3/lease/keepalive", body).await?;
        Ok(renewed.result.ttl.is_some_and(|ttl| ttl != "0"))
    }

    /// Ends a lease, and with it every lock that was taken with it.
    pub async fn revoke(&self, lease: Lease) -> Result<(), EtcdError> {
        self.call::<Nothing>("/v3/lease/revoke", json!({ "ID": lease.0.to_string() })).await.map(drop)
    }

    /// Takes a lock for as long as the lease lives. Taking it twice as the same owner is taking it once: a run that was
    /// killed and comes back need not wait for its own lease to end.
    pub async fn lock(&self, name: &str, owner: &str, lease: Lease) -> Result<Lock, EtcdError> {
        let (key, value) = (BASE64.encode(name), BASE64.encode(owner));
        let put = json!({ "request_put": { "key": key, "value": value, "lease": lease.0.to_string() } });
        let is = |target: &str, field: &str, wanted: &str| {
            json!({ "compare": [{ "key": key, "target": target, "result": "EQUAL", field: wanted }],
                    "success": [put], "failure": [{ "request_range": { "key": key } }] })
        };
        let free: Done = self.call("/v3/kv/txn", is("CREATE", "create_revision", "0")).await?;
        if free.succeeded {
            return Ok(Lock::Taken);
        }
        let own: Done = self.call("/v3/kv/txn", is("VALUE", "value", &value)).await?;
        if own.succeeded {
            return Ok(Lock::Taken);
        }
        let holder = own.responses.into_iter().find_map(|one| one.response_range?.kvs.into_iter().next());
        let holder = holder.and_then(|found| BASE64.decode(found.value).ok());
        Ok(Lock::HeldBy(String::from_utf8_lossy(&holder.unwrap_or_default()).into_owned()))
    }
}
