//! The JSON Schemas of the two kinds of files, for editors and other tools.

use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::transform_subschemas};
use serde_json::Value;

use crate::file::{ClusterFile, NodeFile};

/// The JSON Schema of `cluster.yaml`.
pub fn schema() -> Value {
    schema_of::<ClusterFile>()
}

/// The JSON Schema of `nodes/<name>.yaml`.
pub fn node_schema() -> Value {
    schema_of::<NodeFile>()
}

fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    refuse_null(&mut schema);
    join_lines(&mut schema);
    schema.to_value()
}

/// Where a line of a doc comment ends is of no interest to an editor.
fn join_lines(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    transform_subschemas(&mut join_lines, schema);
}

/// A key is either absent or has a value; the reader does not take `null` for absent, so the schema must not either.
fn refuse_null(schema: &mut Schema) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
    }
    transform_subschemas(&mut refuse_null, schema);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        file::{
            ApiSection, BootstrapSection, CephSection, ClusterSection, HardwareSection, NetworkingSection,
            NodeCephSection, NodeFacts, NodeSection, OsdSection,
        },
        read::{KnownKey, Section, known_keys},
    };

    fn assert_same_keys<T: JsonSchema + Section>() {
        let schema = schema_of::<T>();
        let required = |name: &str| {
            schema["required"].as_array().is_some_and(|required| required.iter().any(|entry| entry == name))
        };
        let known = known_keys::<T>();
        let mut described: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        described.sort_unstable();
        assert_eq!(known.iter().map(|key| key.name).collect::<Vec<_>>(), described, "{}", T::schema_name());
        for KnownKey { name, required: asked } in known {
            assert_eq!(asked, required(name), "{}.{name}", T::schema_name());
        }
        assert_eq!(schema["additionalProperties"], false, "{}", T::schema_name());
    }

    #[test]
    fn the_schema_and_the_reader_know_the_same_keys() {
        assert_same_keys::<ClusterFile>();
        assert_same_keys::<ClusterSection>();
        assert_same_keys::<NetworkingSection>();
        assert_same_keys::<ApiSection>();
        assert_same_keys::<BootstrapSection>();
        assert_same_keys::<CephSection>();
        assert_same_keys::<NodeSection>();
        assert_same_keys::<NodeCephSection>();
        assert_same_keys::<OsdSection>();
        assert_same_keys::<HardwareSection>();
        assert_same_keys::<NodeFile>();
        assert_same_keys::<NodeFacts>();
    }

    #[test]
    fn null_is_refused_everywhere() {
        for schema in [schema(), node_schema()] {
            assert!(!schema.to_string().contains("null"), "{schema:#}");
        }
    }
}
