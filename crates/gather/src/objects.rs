//! Objects of the API, without what is not needed and what may be private.

use serde_json::Value;

const MARK: &str = "[redacted]";

/// A list of objects as text; what is no JSON stays as it is.
pub(crate) fn trimmed(text: &str) -> String {
    let Ok(mut list) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    trim(&mut list);
    serde_json::to_string_pretty(&list).unwrap_or_else(|_| text.to_owned())
}

/// Environment variables often hold passwords, and annotations a second copy of everything.
fn trim(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(trim),
        Value::Object(fields) => {
            fields.remove("managedFields");
            if let Some(Value::Object(annotations)) = fields.get_mut("annotations") {
                annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
            }
            for variable in fields.get_mut("env").and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(value) = variable.get_mut("value") {
                    *value = MARK.into();
                }
            }
            fields.values_mut().for_each(trim);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_may_be_private_is_gone_and_the_rest_stays() {
        let pod = json!({ "items": [{
            "metadata": { "name": "db", "managedFields": [{ "manager": "kubectl" }],
                "annotations": { "kubectl.kubernetes.io/last-applied-configuration": "hunter2", "kept": "yes" } },
            "spec": { "containers": [{ "image": "db:1", "env": [
                { "name": "PASSWORD", "value": "hunter2" },
                { "name": "FROM", "valueFrom": { "secretKeyRef": { "name": "db", "key": "word" } } } ] }] },
        }] });
        let text = trimmed(&pod.to_string());
        assert!(!text.contains("hunter2") && !text.contains("managedFields"), "{text}");
        for kept in ["db:1", "PASSWORD", "secretKeyRef", "\"kept\": \"yes\""] {
            assert!(text.contains(kept), "{kept} in {text}");
        }
        assert_eq!(trimmed("Error from server (Forbidden)"), "Error from server (Forbidden)");
    }
}
