//! A node's next secret on its way to it, in the answer to `renew`: before the one it has ends, so that a living node can be
//! reset and join again at any time, and while the join key is replaced.
//!
//! Only the holder of the present secret can open it: a certificate alone is not enough to get one.

use jiff::Timestamp;
use secrecy::ExposeSecret;

use crate::{
    Generation, JoinKey, NodeSecret,
    envelope::{self, Unusable},
    secret::moment,
    wire::{ClaimedCredential, NewSecret},
};

const PURPOSE: &str = "blackstart new node secret v1";

/// The secret that follows the one a node holds: of the first key, of a generation that is accepted (`minimum`), and good for
/// as long as the present one was. Which of the keys has made that is not known here, so there is an envelope for each.
/// `None` where there is nothing to follow. `csr` is of this very request.
pub(crate) fn close(
    keys: &[JoinKey],
    node: &str,
    held: &ClaimedCredential,
    csr: &str,
    minimum: Generation,
    now: Timestamp,
) -> Result<Option<NewSecret>, Unusable> {
    let (Some(first), ClaimedCredential::NodeSecret { node: owner, generation, expires }) = (keys.first(), held) else {
        return Ok(None);
    };
    if owner != node {
        return Ok(None);
    }
    let present = |key: &JoinKey| key.node_secret(node, *generation, moment(*expires));
    let next = first.next_secret(&present(first), now);
    let next = first.node_secret(node, next.generation.max(minimum), next.expires);
    let envelope = |key: &JoinKey| {
        let text = next.text().expose_secret().as_bytes().to_vec();
        envelope::close(present(key).bytes().expose_secret(), PURPOSE, &[node.as_bytes(), csr.as_bytes()], text)
    };
    Ok(Some(NewSecret { of: first.mark(), envelopes: keys.iter().map(envelope).collect::<Result<_, _>>()? }))
}

/// The next secret, for the holder of the present one.
pub(crate) fn open(answer: &NewSecret, held: &NodeSecret, csr: &str) -> Option<NodeSecret> {
    let exchange = [held.node.as_bytes(), csr.as_bytes()];
    let opened = |closed: &String| envelope::open(held.bytes().expose_secret(), PURPOSE, &exchange, closed).ok();
    let text = answer.envelopes.iter().find_map(opened)?;
    NodeSecret::parse(&String::from_utf8_lossy(&text)).ok().filter(|next| next.node == held.node)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MADE: Generation = Generation(1_000);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn the_holder_of_the_present_secret_gets_the_next_one() {
        let [old, new, foreign] = [(); 3].map(|()| JoinKey::generate().unwrap());
        let claimed =
            |node: &str| ClaimedCredential::NodeSecret { node: node.into(), generation: MADE, expires: 4_000 };
        let of = |key: &JoinKey| key.node_secret("worker-01", MADE, Some(at(4_000)));
        let keys = [new.clone(), old.clone()];
        let close = |keys: &[JoinKey], held: &ClaimedCredential| {
            super::close(keys, "worker-01", held, "csr", Generation(0), at(3_500)).unwrap()
        };
        let answer = close(&keys, &claimed("worker-01")).unwrap();
        assert_eq!(answer.of, new.mark());
        for (held, csr, expected) in
            [(of(&old), "csr", true), (of(&new), "csr", true), (of(&foreign), "csr", false), (of(&old), "other", false)]
        {
            let got = open(&answer, &held, csr);
            assert_eq!(got.is_some_and(|got| new.made(&got) && got.generation > held.generation), expected, "{csr}");
        }
        for (keys, held) in [
            (&keys[..], claimed("worker-02")),
            (&keys[..], ClaimedCredential::Token { id: "abcdef".into() }),
            (&[], claimed("worker-01")),
        ] {
            assert!(close(keys, &held).is_none());
        }
    }

    #[test]
    fn the_next_one_is_newer_and_lasts_as_long() {
        let key = JoinKey::generate().unwrap();
        for (expires, minimum, generation, end) in
            [(4_000, 0, 3_500, Some(at(6_500))), (4_000, 9_000, 9_000, Some(at(6_500))), (0, 0, 3_500, None)]
        {
            let held = key.node_secret("worker-01", MADE, moment(expires));
            let asked = super::close(
                std::slice::from_ref(&key),
                "worker-01",
                &held.claimed(),
                "csr",
                Generation(minimum),
                at(3_500),
            );
            let next = open(&asked.unwrap().unwrap(), &held, "csr").unwrap();
            assert_eq!((next.generation, next.expires), (Generation(generation), end), "{expires} {minimum}");
        }
    }
}
