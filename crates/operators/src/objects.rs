//! The objects themselves: one `ClusterVersion`, and a `ClusterOperator` for each name.

use std::fmt;

use kubeapi::{
    ApiError, Client,
    kube::{
        Api,
        api::{DynamicObject, Patch, PatchParams},
        core::{ApiResource, GroupVersionKind},
    },
};
use serde_json::{Value, json};

use crate::evaluate::NAMES;

const GROUP: &str = "config.openshift.io";
const VERSION: &str = "v1";
/// Whom the API server knows as the owner of the statuses.
const FIELD_MANAGER: &str = "cluster-version-operator";

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Object {
    /// The `ClusterOperator` of this name.
    Operator(&'static str),
    /// The `ClusterVersion`, whose name is `version`.
    Version,
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.name())
    }
}

impl Object {
    /// All there are.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.into_iter().map(Self::Operator).chain([Self::Version])
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Operator(_) => "ClusterOperator",
            Self::Version => "ClusterVersion",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Operator(name) => name,
            Self::Version => "version",
        }
    }

    fn api(self, client: &Client) -> Api<DynamicObject> {
        Api::all_with(client.clone(), &ApiResource::from_gvk(&GroupVersionKind::gvk(GROUP, VERSION, self.kind())))
    }

    /// What is applied: all of it that is not its status, or its status.
    fn applied(self, field: &str, value: &Value) -> Patch<Value> {
        let version = format!("{GROUP}/{VERSION}");
        Patch::Apply(json!({
            "apiVersion": version, "kind": self.kind(), "metadata": { "name": self.name() }, field: value,
        }))
    }
}

/// The status of an object: null where it has none, `None` where there is no such object.
pub async fn read(client: &Client, object: Object) -> Result<Option<Value>, ApiError> {
    let found = object.api(client).get_opt(object.name()).await.map_err(ApiError::of(format!("read {object}")))?;
    Ok(found.map(|found| found.data["status"].clone()))
}

/// The objects that are not there, or that have no status yet.
pub async fn unreported(client: &Client) -> Result<Vec<Object>, ApiError> {
    let mut all = Vec::new();
    for object in Object::all() {
        if read(client, object).await?.is_none_or(|status| status["conditions"].is_null()) {
            all.push(object);
        }
    }
    Ok(all)
}

/// Gives an object this status; the object is made if it is not there.
pub async fn write(client: &Client, object: Object, status: &Value) -> Result<(), ApiError> {
    let (api, params) = (object.api(client), PatchParams::apply(FIELD_MANAGER).force());
    let doing = || ApiError::of(format!("write {object}"));
    api.patch(object.name(), &params, &object.applied("spec", &json!({}))).await.map_err(doing())?;
    api.patch_status(object.name(), &params, &object.applied("status", status)).await.map_err(doing())?;
    Ok(())
}
