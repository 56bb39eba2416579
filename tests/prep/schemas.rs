//! kubeconform, and the schemas for it: those by which the cluster's own API server evaluates.

use std::{collections::BTreeMap, env, fs, path::PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Cluster, CommandOutput, run, text};

const VERSION: &str = "v0.7.0";

/// Builds it with the toolchain that has built the cluster's components: an older `go` can run that one, but not fetch it.
const INSTALL: &str = r#"
go=$(go env GOMODCACHE)/golang.org/toolchain@v0.0.1-go$3.linux-$(go env GOARCH)/bin/go
[ -x "$go" ] || go=go
GOBIN=$1 GOTOOLCHAIN=go$3 GOFLAGS= GOWORK=off CGO_ENABLED=0 "$go" install "github.com/yannh/kubeconform/cmd/kubeconform@$2"
"#;

/// Evaluates manifests by the schemas of a cluster.
pub(crate) struct Kubeconform {
    program: PathBuf,
    schemas: TempDir,
}

impl Kubeconform {
    /// With the schemas of these kinds, each with the API version that has it.
    pub(crate) fn with(cluster: &Cluster, kinds: &[(String, String)]) -> Self {
        let schemas = tempfile::tempdir().unwrap();
        let mut documents = BTreeMap::new();
        for (version, kind) in kinds {
            let document = documents.entry(version).or_insert_with(|| document(cluster, version));
            let file = schemas.path().join(format!("{}.json", kind.to_lowercase()));
            fs::write(file, schema(document, kind).to_string()).unwrap();
        }
        Self { program: program(), schemas }
    }

    /// What it says of a manifest.
    pub(crate) fn validate(&self, manifest: &str) -> CommandOutput {
        let file = self.schemas.path().join("manifest.yaml");
        fs::write(&file, manifest).unwrap();
        let location = format!("{}/{{{{.ResourceKind}}}}.json", self.schemas.path().display());
        let arguments = ["-strict", "-summary", "-verbose", "-schema-location", &location];
        run(&self.program.display().to_string(), &[&arguments[..], &[&file.display().to_string()]].concat())
    }
}

/// Where it is; it is built where there is none.
fn program() -> PathBuf {
    let home = || PathBuf::from(env::var_os("HOME").unwrap_or_else(|| "/root".into())).join(".cache");
    let cache = env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from);
    let dir = cache.join("blackstart/tools").join(format!("kubeconform-{VERSION}"));
    let program = dir.join("kubeconform");
    if !program.exists() {
        run("sh", &["-euc", INSTALL, "sh", &dir.display().to_string(), VERSION, bundle::table::GO]).ok();
    }
    program
}

/// What the API server says of everything in an API version.
fn document(cluster: &Cluster, version: &str) -> Value {
    let group = if version.contains('/') { "apis" } else { "api" };
    serde_json::from_str(&cluster.kubectl(&["get", "--raw", &format!("/openapi/v3/{group}/{version}")])).unwrap()
}

/// The schema of a kind. A key that the server does not know is an error, as it is with strict validation.
fn schema(document: &Value, kind: &str) -> Value {
    let mut all = document["components"]["schemas"].as_object().unwrap().clone();
    let is_kind = |schema: &Value| {
        let mut names = schema["x-kubernetes-group-version-kind"].as_array().into_iter().flatten();
        names.any(|name| name["kind"] == kind) && !schema["properties"]["metadata"].is_null()
    };
    let name = all.iter().find(|(_, schema)| is_kind(schema)).map(|(name, _)| name.clone());
    let name = name.unwrap_or_else(|| panic!("no schema of {kind}"));
    for schema in all.values_mut().filter_map(Value::as_object_mut) {
        if schema.contains_key("properties") && !schema.contains_key("additionalProperties") {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
    }
    json!({ "$ref": format!("#/components/schemas/{name}"), "components": { "schemas": all } })
}

/// API version and kind of every object in a list of `kubectl`.
pub(crate) fn kinds(objects: &[Value]) -> Vec<(String, String)> {
    objects.iter().map(|object| (text(&object["apiVersion"]), text(&object["kind"]))).collect()
}
