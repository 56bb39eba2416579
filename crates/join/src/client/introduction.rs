//! Learning the CA from a token: the one request that is made to a server that cannot be verified.
//!
//! Nothing secret is sent (the token's id and a nonce are not), and nothing of the answer is believed but a CA
//! whose HMAC under the token's secret is right. Everything else is asked again over TLS with that CA.

use std::net::SocketAddr;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use spec::Token;

use super::{JoinError, call::get, token_secret};
use crate::{
    mac, proof,
    wire::{self, CaAnswer, CaQuery},
};

/// The cluster's CA (PEM), proved by the token.
pub(super) async fn ca(master: SocketAddr, token: &Token) -> Result<String, JoinError> {
    let nonce = BASE64.encode(mac::random::<32>()?);
    let query = CaQuery { token: token.id.clone(), nonce };
    let CaAnswer { ca, proof } = get(&tls::unproven_client()?, master, wire::CA, &query).await?;
    if proof::ca_is_proved(token_secret(token), &query.nonce, &ca, &proof) {
        Ok(ca)
    } else {
        Err(JoinError::UnprovenCa { master })
    }
}
