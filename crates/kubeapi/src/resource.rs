//! Where the API serves objects of a kind. Asked of the server once per group and version.

use std::collections::BTreeMap;

use kube::{
    Api, Client,
    api::DynamicObject,
    core::{ApiResource, GroupVersion},
    discovery::{self, Scope},
};
use serde_json::Value;

use crate::ApiError;

/// What was learnt from the server.
#[derive(Default)]
pub(crate) struct Kinds {
    known: BTreeMap<(String, String), (ApiResource, Scope)>,
}

impl Kinds {
    /// Learns where these objects are served.
    pub(crate) async fn learn(&mut self, client: &Client, objects: &[Value]) -> Result<(), ApiError> {
        for object in objects {
            let (version, kind) = type_of(object);
            if self.known.contains_key(&(version.clone(), kind.clone())) {
                continue;
            }
            let unknown = || ApiError::UnknownKind { version: version.clone(), kind: kind.clone() };
            let group: GroupVersion = version.parse().map_err(|_| unknown())?;
            let found = match discovery::pinned_group(client, &group).await {
                Err(kube::Error::Api(status)) if status.code == 404 => return Err(unknown()),
                found => found.map_err(ApiError::of(format!("ask for the kinds of {version}")))?,
            };
            for (resource, capabilities) in found.versioned_resources(&group.version) {
                self.known.insert((version.clone(), resource.kind.clone()), (resource, capabilities.scope));
            }
            if !self.known.contains_key(&(version.clone(), kind.clone())) {
                return Err(unknown());
            }
        }
        Ok(())
    }

    /// The interface for one object; its kind has been learnt.
    pub(crate) fn api(&self, client: &Client, object: &Value) -> Result<Api<DynamicObject>, ApiError> {
        let key = type_of(object);
        let Some((resource, scope)) = self.known.get(&key) else {
            return Err(ApiError::UnknownKind { version: key.0, kind: key.1 });
        };
        Ok(match scope {
            Scope::Cluster => Api::all_with(client.clone(), resource),
            Scope::Namespaced => {
                let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default");
                Api::namespaced_with(client.clone(), namespace, resource)
            }
        })
    }
}

fn type_of(object: &Value) -> (String, String) {
    let field = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
    (field("apiVersion"), field("kind"))
}

/// `Deployment kube-system/coredns`, for messages.
pub(crate) fn describe(object: &Value) -> String {
    let field = |name: &str| object["metadata"][name].as_str();
    let kind = object["kind"].as_str().unwrap_or("object");
    let name = field("name").unwrap_or("without a name");
    field("namespace").map_or_else(|| format!("{kind} {name}"), |namespace| format!("{kind} {namespace}/{name}"))
}
