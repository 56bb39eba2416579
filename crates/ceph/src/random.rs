//! Random bytes, without which nothing secret can be made.

use aws_lc_rs::rand;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use explain::{Code, Explain};

use crate::codes;

/// The system gave no random bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the system gave no random bytes")]
pub struct NoRandomness;

impl Explain for NoRandomness {
    fn code(&self) -> Code {
        codes::NO_RANDOM
    }
}

/// A text that cannot be guessed, for a password.
pub fn random_text() -> Result<String, NoRandomness> {
    Ok(BASE64.encode(random::<18>()?))
}

pub(crate) fn random<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    rand::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(bytes)
}
