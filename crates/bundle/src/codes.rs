//! Codes of what can go wrong with a bundle.

explain::codes! {
    MANIFEST = "BS-BUNDLE-001", "the bundle's manifest is missing or unreadable",
        "check that the path is a bundle made by `blackstart bundle build` or `unpack`; if it is, make it again";
    NEWER = "BS-BUNDLE-002", "the bundle was made by a newer blackstart",
        "use a blackstart at least as new as the one that made the bundle, or build the bundle again with this one";
    CHANGED = "BS-BUNDLE-003", "checksum mismatch: a file of the bundle differs from its manifest",
        "do not install it; copy, unpack or build the bundle again";
    MISSING = "BS-BUNDLE-004", "a file of the bundle is missing",
        "copy, unpack or build the bundle again";
    EXTRA = "BS-BUNDLE-005", "the bundle has a file that is not in its manifest",
        "remove the file if you put it there; otherwise copy or unpack the bundle again";
    MODE = "BS-BUNDLE-006", "wrong permissions on a file of the bundle",
        "`chmod` it to the mode in the message, or unpack the bundle again; copying with `cp -a` keeps permissions";
    ESCAPES = "BS-BUNDLE-007", "a path in the bundle points outside of it",
        "do not use this bundle: it was not made by blackstart, or it was tampered with";
    NOT_REGULAR = "BS-BUNDLE-008", "the bundle has something that is neither a plain file nor a directory",
        "do not use this bundle: links and devices are never part of one";
    ARCHIVE = "BS-BUNDLE-009", "the archive is truncated or damaged",
        "copy or download the archive again; its end may be missing";
    TARGET = "BS-BUNDLE-010", "the target exists and is not a bundle",
        "choose a path that does not exist yet, or remove what is there";
    SPACE = "BS-BUNDLE-011", "not enough space for the bundle",
        "free the space that the message asks for, or set XDG_CACHE_HOME to a larger file system, and run it again";
    NO_SOURCE = "BS-BUNDLE-012", "no source could provide a component",
        "allow access to one of the sources named in the message, or give a directory or bundle that has the component";
    CHECKSUM = "BS-BUNDLE-013", "checksum mismatch: a download differs from its publisher's checksum",
        "try again later; if it persists, a proxy or mirror between you and the publisher changes the download";
    TOOLS = "BS-BUNDLE-014", "a tool needed to build a component is missing",
        "install the packages named in the message, or run the command as root on Debian or Ubuntu";
    COMPILE = "BS-BUNDLE-015", "building a component from source failed",
        "the message has the end of the compiler's output; run the command again to continue where it stopped";
    VERSION = "BS-BUNDLE-016", "a program has the wrong version",
        "give a program of the version in the message, or leave it out so that another source provides it";
    NOT_STATIC = "BS-BUNDLE-017", "a program for an image is not statically linked",
        "build it static (`cargo xtask dist` does so for blackstart): an image holds nothing but the program";
    STOPPED = "BS-BUNDLE-018", "building the bundle was interrupted",
        "run the same command again: it continues with the component it was at";
    PLATFORM = "BS-BUNDLE-019", "there are no components for this processor",
        "build the bundle on an amd64 or arm64 machine";
    UNKNOWN = "BS-BUNDLE-020", "unknown component", "choose one of the names in the message";
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::ALL;

    #[test]
    fn numbers_are_in_order_without_gaps() {
        for (index, code) in ALL.iter().enumerate() {
            assert_eq!(code.id, format!("BS-BUNDLE-{:03}", index + 1));
        }
    }

    #[test]
    fn the_guide_helps_with_every_code() {
        let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/bundles.md");
        let guide = fs::read_to_string(guide).unwrap();
        for code in ALL {
            assert!(guide.contains(code.id), "docs/guide/bundles.md says nothing about {}", code.id);
        }
    }
}
