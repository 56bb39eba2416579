//! `blackstart schema`: the JSON Schema of a configuration file.

use crate::{
    cli::SchemaFile,
    context::{Context, Ended},
};

pub(super) fn run(context: &Context, file: SchemaFile) -> Result<(), Ended> {
    let schema = match file {
        SchemaFile::Cluster => spec::schema(),
        SchemaFile::Node => spec::node_schema(),
    };
    Ok(context.out.json(&schema)?)
}
