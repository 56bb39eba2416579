//! Manifests: YAML with one or more documents, or JSON, which is YAML too.

use serde_json::Value;

use crate::ApiError;

/// The objects of a manifest. Lists are taken apart, empty documents are left out.
pub fn parse(origin: &str, text: &str) -> Result<Vec<Value>, ApiError> {
    let fault = |why: String| ApiError::Manifest { origin: origin.to_owned(), why };
    let documents: Vec<Value> = serde_saphyr::from_multiple(text).map_err(|error| fault(error.to_string()))?;
    let mut objects = Vec::new();
    for document in documents.into_iter().filter(|document| !document.is_null()) {
        match document.get("items") {
            Some(Value::Array(items)) if document["kind"].as_str().is_some_and(|kind| kind.ends_with("List")) => {
                objects.extend(items.iter().cloned());
            }
            _ => objects.push(document),
        }
    }
    for (index, object) in objects.iter().enumerate() {
        let missing = ["/apiVersion", "/kind", "/metadata/name"]
            .into_iter()
            .find(|field| object.pointer(field).and_then(Value::as_str).is_none_or(str::is_empty));
        if let Some(field) = missing {
            let field = field.trim_start_matches('/').replace('/', ".");
            return Err(fault(format!("object {} has no {field}", index + 1)));
        }
    }
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_and_lists_become_objects() {
        let text = "# a comment\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\n\n---\n\
                    apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n";
        let names: Vec<_> =
            parse("m.yaml", text).unwrap().iter().map(|object| object["metadata"]["name"].clone()).collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn what_is_no_object_is_reported_with_its_place() {
        for (text, why) in [
            ("apiVersion: v1\nkind: ConfigMap\n", "object 1 has no metadata.name"),
            ("apiVersion: v1\nmetadata: {name: a}\n", "object 1 has no kind"),
            ("just text\n", "object 1 has no apiVersion"),
        ] {
            assert_eq!(parse("m.yaml", text).unwrap_err().to_string(), format!("m.yaml: {why}"));
        }
        assert!(parse("m.yaml", "a: [").unwrap_err().to_string().starts_with("m.yaml: "));
    }
}
