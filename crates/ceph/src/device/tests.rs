//! What is seen in real files, and what is decided of it.

use std::fs;

use super::*;

const OURS: &str = "6a8f1f3e-0d6c-4a43-9d0e-2f1f4d1c9b10";
const OTHER: &str = "11111111-2222-4333-8444-555555555555";
const OSD: &str = "0d0e0f10-0000-4000-8000-000000000001";

fn fsid(text: &str) -> Fsid {
    Fsid::parse(text).unwrap()
}

/// A label as Ceph writes it: text, a header, and a map in which the cluster is one of several entries.
fn label(cluster: Option<&str>) -> Vec<u8> {
    let mut bytes = [MAGIC, OSD.as_bytes(), b"\n\x02\x01\x00\x01\x00\x00"].concat();
    let mut put = |text: &str| {
        bytes.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
        bytes.extend(text.as_bytes());
    };
    for (name, value) in [Some(("bfm_blocks", "2621440")), cluster.map(|cluster| ("ceph_fsid", cluster))]
        .into_iter()
        .flatten()
        .chain([("osd_key", "AQD0"), ("whoami", "3")])
    {
        put(name);
        put(value);
    }
    bytes.resize(LABEL, 0);
    bytes
}

async fn seen(bytes: Option<&[u8]>, is_file: bool) -> Content {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("link");
    if let Some(bytes) = bytes {
        fs::write(&path, bytes).unwrap();
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(64 << 20).unwrap();
    }
    check(&Host::real(), &path, is_file).await.unwrap()
}

#[tokio::test]
async fn what_lies_there_is_recognised() {
    let mut swap = vec![0; 4096];
    swap[1024] = 1; // its version
    swap[1028] = 255; // its last page
    swap[4086..].copy_from_slice(b"SWAPSPACE2");
    let mut lvm = vec![0; 4096];
    lvm[512..520].copy_from_slice(b"LABELONE");
    lvm[520] = 1; // in the second sector, as it says of itself
    let deep = [vec![0; 900_000], b"x".to_vec()].concat();
    for (case, bytes, is_file, expected) in [
        ("no device", None, false, Content::Missing),
        ("no file yet", None, true, Content::Empty),
        ("zeros", Some(vec![0; 4096]), false, Content::Empty),
        ("an empty file", Some(Vec::new()), true, Content::Empty),
        ("a letter", Some(b"dear diary".to_vec()), true, Content::Data),
        ("something far in", Some(deep), false, Content::Data),
        ("swap", Some(swap), false, Content::Signatures(vec!["swap".into()])),
        ("an OSD", Some(label(Some(OURS))), false, Content::Osd(Label { osd: fsid(OSD), cluster: Some(fsid(OURS)) })),
        ("an OSD in the making", Some(label(None)), true, Content::Osd(Label { osd: fsid(OSD), cluster: None })),
        // Cut off in the middle of its first line.
        ("the beginning of a label", Some(MAGIC.to_vec()), true, Content::Signatures(vec!["ceph_bluestore".into()])),
    ] {
        assert_eq!(seen(bytes.as_deref(), is_file).await, expected, "{case}");
    }
    // Without its checksum the label of LVM is none; it is something all the same.
    assert_ne!(seen(Some(&lvm), false).await, Content::Empty);
}

#[test]
fn only_what_is_empty_or_ours_is_used() {
    let osd = |cluster: Option<&str>| Content::Osd(Label { osd: fsid(OSD), cluster: cluster.map(fsid) });
    let signatures = |names: &[&str]| Content::Signatures(names.iter().map(ToString::to_string).collect());
    let mut reported = String::new();
    for (content, begun) in [
        (Content::Missing, vec![]),
        (Content::Empty, vec![]),
        (osd(Some(OURS)), vec![]),
        (osd(Some(OTHER)), vec![]),
        (osd(None), vec![]),
        (osd(None), vec![fsid(OSD)]),
        (signatures(&["gpt", "PMBR"]), vec![]),
        (signatures(&["LVM2_member"]), vec![]),
        (signatures(&["ext4"]), vec![]),
        (Content::Data, vec![]),
    ] {
        for wipe in [false, true] {
            let verdict = match evaluate(&content, &fsid(OURS), &begun, wipe) {
                Verdict::Free => "free".to_owned(),
                Verdict::Ours(label) => format!("ours: {}", label.osd),
                Verdict::Wipe(seen) => format!("wiped: {seen}"),
                Verdict::Refused(refusal) => {
                    format!("refused: {refusal}{}", if refusal.can_be_wiped { " (can be wiped)" } else { "" })
                }
            };
            reported += &format!("{verdict}\n");
        }
    }
    insta::assert_snapshot!(reported);
}

#[test]
fn what_wipefs_says() {
    for (json, expected) in [
        ("", Vec::<&str>::new()),
        ("{\n   \"signatures\": [\n\n   ]\n}\n", vec![]),
        (r#"{"signatures": [{"type": "gpt"}, {"type": "gpt"}, {"type": "PMBR"}]}"#, vec!["gpt", "PMBR"]),
    ] {
        assert_eq!(names(json).unwrap(), expected, "{json}");
    }
    assert!(names("wipefs: error").is_err());
}
