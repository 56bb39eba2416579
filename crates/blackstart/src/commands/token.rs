//! `blackstart token`: tokens by which machines join, kept as Kubernetes keeps them.

use jiff::{SignedDuration, SpanRelativeTo, Timestamp, Unit};
use kubeapi::{
    Client,
    k8s_openapi::api::core::v1::Secret,
    kube::{
        Api,
        api::{DeleteParams, ListParams},
    },
};
use secrecy::ExposeSecret;
use serde_json::json;
use spec::ValidatedCluster;

use crate::{
    Failure,
    cli::TokenCommand,
    codes,
    context::{Context, Ended, block_on},
};

pub(super) const KIND: &str = "type=bootstrap.kubernetes.io/token";
pub(super) const NODE: &str = "blackstart.dev/node";

pub(super) fn run(context: &Context, command: &TokenCommand) -> Result<(), Ended> {
    let cluster = context.cluster(None)?;
    match command {
        TokenCommand::Create { node, ttl, print_join_command } => {
            if let Some(name) = node {
                nodekit::identity::by_name(&cluster, name)?;
            }
            let expires = moment(context, ttl)?;
            block_on(create(context, &cluster, node.as_deref(), expires, *print_join_command))?
        }
        TokenCommand::List => block_on(list(context))?,
        TokenCommand::Revoke { id } => block_on(revoke(context, id))?,
    }
}

pub(super) async fn client(context: &Context) -> Result<Client, Ended> {
    let path = context.layout.kubernetes_dir.join("super-admin.conf");
    let Some(text) = context.host.disk.read_optional(&path)? else {
        let message = format!("{} is not there: this is done on a master", path.display());
        return Err(Failure::new(codes::ONLY_ON_MASTERS, message).into());
    };
    tls::install_provider();
    Ok(kubeapi::connect(&String::from_utf8_lossy(&text)).await?)
}

async fn create(
    context: &Context,
    cluster: &ValidatedCluster,
    node: Option<&str>,
    expires: Timestamp,
    print_join_command: bool,
) -> Result<(), Ended> {
    let client = client(context).await?;
    let token = join::token::generate().map_err(|error| Failure::new(codes::NO_TOKEN, error.to_string()))?;
    let text = join::token::text(&token);
    let description =
        node.map_or_else(|| "made by blackstart".to_owned(), |node| format!("for {node}, made by blackstart"));
    let object =
        render::objects::token(&token.id, token.secret.expose_secret(), Some(&expires.to_string()), node, &description);
    kubeapi::apply(&client, &object).await?;
    refuse_if_over(&client, &token.id, expires).await?;
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "token": text.expose_secret(), "node": node, "expires": expires }))?);
    }
    if print_join_command {
        let ca = context.host.disk.read(&context.layout.kubernetes_dir.join("pki/ca.crt"))?;
        return Ok(context.out.text(&format!("{}\n", playbooks::cluster::join_command(cluster, &ca, &token)?))?);
    }
    Ok(context.out.text(&format!("{}\n", text.expose_secret()))?)
}

/// A token that has ended when it is made shows that the clock here is behind that of the API server.
async fn refuse_if_over(client: &Client, id: &str, expires: Timestamp) -> Result<(), Failure> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), "kube-system");
    let name = format!("bootstrap-token-{id}");
    let made = secrets.get_metadata(&name).await.map_err(|error| refused("read the token", &error))?;
    let Some(made) = made.metadata.creation_timestamp.filter(|made| expires <= made.0) else { return Ok(()) };
    secrets.delete(&name, &DeleteParams::default()).await.map_err(|error| refused("delete the token", &error))?;
    let message = format!("the token would have ended at {expires}, and by the API server's clock it is {}", made.0);
    Err(Failure::new(codes::CLOCK_BEHIND, message))
}

/// What is shown of a token.
struct Row {
    id: String,
    expires: Option<String>,
    node: Option<String>,
    description: String,
}

async fn list(context: &Context) -> Result<(), Ended> {
    let secrets: Api<Secret> = Api::namespaced(client(context).await?, "kube-system");
    let found =
        secrets.list(&ListParams::default().fields(KIND)).await.map_err(|error| refused("list the tokens", &error))?;
    let rows: Vec<Row> = found.items.iter().map(row).collect();
    let now = context.host.clock.now();
    if context.out.is_json() {
        let rows: Vec<_> = rows
            .iter()
            .map(|row| {
                json!({ "id": row.id, "expires": row.expires, "expired": is_over(row, now), "node": row.node,
                        "description": row.description })
            })
            .collect();
        return Ok(context.out.json(&json!({ "tokens": rows }))?);
    }
    Ok(context.out.text(&table(&rows, now))?)
}

fn row(secret: &Secret) -> Row {
    let field = |name: &str| {
        let data = secret.data.as_ref()?.get(name)?;
        Some(explain::plain(&String::from_utf8_lossy(&data.0)).into_owned())
    };
    let annotations = secret.metadata.annotations.as_ref();
    Row {
        id: field("token-id").unwrap_or_default(),
        expires: field("expiration"),
        node: annotations.and_then(|all| all.get(NODE)).cloned(),
        description: field("description").unwrap_or_default(),
    }
}

fn is_over(row: &Row, now: Timestamp) -> bool {
    row.expires.as_ref().and_then(|text| text.parse::<Timestamp>().ok()).is_some_and(|end| end <= now)
}

fn table(rows: &[Row], now: Timestamp) -> String {
    if rows.is_empty() {
        return "there are no tokens\n".to_owned();
    }
    let mut text = format!("{:<8} {:<32} {:<16} DESCRIPTION\n", "ID", "EXPIRES", "NODE");
    for row in rows {
        let end = row.expires.as_deref().unwrap_or("never");
        let end = if is_over(row, now) { format!("{end} (over)") } else { end.to_owned() };
        text += format!("{:<8} {end:<32} {:<16} {}", row.id, row.node.as_deref().unwrap_or("any"), row.description)
            .trim_end();
        text += "\n";
    }
    text
}

async fn revoke(context: &Context, id: &str) -> Result<(), Ended> {
    let secrets: Api<Secret> = Api::namespaced(client(context).await?, "kube-system");
    let gone = secrets.delete(&format!("bootstrap-token-{id}"), &DeleteParams::default()).await;
    match gone {
        Err(kubeapi::kube::Error::Api(status)) if status.code == 404 => {
            let message = format!("there is no token `{id}`");
            return Err(Failure::usage(codes::NO_TOKEN, message).with_hint("`blackstart token list` shows all").into());
        }
        gone => drop(gone.map_err(|error| refused("revoke the token", &error))?),
    }
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "revoked": id }))?);
    }
    Ok(context.out.text(&format!("token `{id}` is of no use any more\n"))?)
}

pub(super) fn refused(doing: &str, error: &kubeapi::kube::Error) -> Failure {
    Failure::new(kubeapi::codes::REFUSED, format!("cannot {doing}: {error}"))
}

/// The moment a duration from now, `30m`, `24h` or `7d`.
pub(super) fn moment(context: &Context, text: &str) -> Result<Timestamp, Failure> {
    let end = context.host.clock.now().checked_add(length(text)?).map_err(|_| no_length(text))?;
    Ok(end.round(Unit::Second).unwrap_or(end))
}

/// A duration, `30m`, `24h` or `7d`.
pub(super) fn length(text: &str) -> Result<SignedDuration, Failure> {
    let span: jiff::Span = text.parse().map_err(|_| no_length(text))?;
    let length = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| no_length(text))?;
    if length.is_positive() { Ok(length) } else { Err(no_length(text)) }
}

fn no_length(text: &str) -> Failure {
    Failure::usage(codes::BAD_TIME, format!("invalid duration `{text}`"))
}
