//! What a file of an Ignition config holds: a `data:` URL, percent-encoded or base64, perhaps compressed.

use std::io::Read;

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::read::GzDecoder;
use serde_json::Value;

/// A few bytes may unpack to anything.
const MOST: u64 = 64 << 20;

/// The content of a file's `contents`, as the machine-config-daemon decodes it; nothing is an empty file.
pub(super) fn contents(file: &Value) -> Result<Vec<u8>, String> {
    let text = |pointer| file.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let bytes = decode(text("/contents/source"))?;
    match text("/contents/compression") {
        "" => Ok(bytes),
        "gzip" => unpack(&bytes),
        other => Err(format!("compression `{other}` is not supported")),
    }
}

/// These bytes as the servers of `OpenShift` write them.
pub(super) fn decode(source: &str) -> Result<Vec<u8>, String> {
    if source.is_empty() {
        return Ok(Vec::new());
    }
    let Some(rest) = source.strip_prefix("data:") else {
        // What follows the scheme may hold a token.
        let scheme = source.split(':').next().unwrap_or_default();
        return Err(format!("its content is at an address (`{scheme}:`), and only `data:` is supported"));
    };
    let (kind, data) = rest.split_once(',').ok_or("its `data:` URL has no comma")?;
    let bytes = percent_decode(data)?;
    if kind.ends_with(";base64") {
        return STANDARD.decode(bytes).map_err(|error| format!("its base64 is broken: {error}"));
    }
    Ok(bytes)
}

fn percent_decode(text: &str) -> Result<Vec<u8>, String> {
    let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (Some(high), Some(low)) = (digit(rest.next()), digit(rest.next())) else {
            return Err("its `data:` URL has a `%` without two hexadecimal digits".to_owned());
        };
        bytes.extend(u8::try_from(high * 16 + low));
    }
    Ok(bytes)
}

fn unpack(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut unpacked = Vec::new();
    let read = GzDecoder::new(bytes).take(MOST + 1).read_to_end(&mut unpacked);
    read.map_err(|error| format!("its gzip is broken: {error}"))?;
    if unpacked.len() as u64 > MOST {
        return Err(format!("it unpacks to more than {MOST} bytes"));
    }
    Ok(unpacked)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_decoded_and_what_is_not() {
        for (source, content) in [
            ("", Ok("")),
            ("data:,", Ok("")),
            ("data:,a%20b%0A%2b+", Ok("a b\n++")),
            ("data:;base64,aGk=", Ok("hi")),
            ("data:text/plain;charset=utf-8;base64,aGk%3D", Ok("hi")),
            ("data:,%4", Err("its `data:` URL has a `%` without two hexadecimal digits")),
            ("data:nothing", Err("its `data:` URL has no comma")),
            ("https://u:p@host/f", Err("its content is at an address (`https:`), and only `data:` is supported")),
        ] {
            let content = content.map(|text| text.as_bytes().to_vec()).map_err(str::to_owned);
            assert_eq!(decode(source), content, "{source}");
        }
    }

    #[test]
    fn gzip_is_unpacked_and_anything_else_is_named() {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(b"hello").unwrap();
        let source = format!("data:;base64,{}", STANDARD.encode(gzip.finish().unwrap()));
        let file = |compression| json!({"contents": {"source": source, "compression": compression}});
        assert_eq!(contents(&file("gzip")).unwrap(), b"hello");
        assert!(contents(&file("zstd")).unwrap_err().contains("`zstd`"));
        let bare = json!({"contents": {"source": "data:,x", "compression": "gzip"}});
        assert!(contents(&bare).unwrap_err().starts_with("its gzip is broken"));
        assert_eq!(contents(&json!({"path": "/empty"})).unwrap(), b"");
    }
}
