//! What a bundle shall hold.

use std::path::PathBuf;

use crate::{BundleError, Component, component::Shape, table};

/// The name of our own program and its image.
pub(crate) const OWN: &str = "blackstart";

/// What a bundle shall hold.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Rows of the table.
    pub components: Vec<&'static Component>,
    /// What image names start with: `blackstart.local` gives `blackstart.local/pause:3.10.2`.
    pub image_prefix: String,
    /// Our own program, for an image of it.
    pub own: Option<Own>,
}

/// Our own program.
#[derive(Debug, Clone)]
pub struct Own {
    /// The file; it has to be static.
    pub program: PathBuf,
    /// Its version, which becomes the tag of its image.
    pub version: String,
}

impl Default for Wanted {
    /// Everything a node needs; no extras, and no image of our own program.
    fn default() -> Self {
        let components = table::COMPONENTS.iter().filter(|component| !component.extra).collect();
        Self { components, image_prefix: "blackstart.local".to_owned(), own: None }
    }
}

impl Wanted {
    /// Adds components that are not part of every bundle.
    pub fn with_extras<S: AsRef<str>>(mut self, names: &[S]) -> Result<Self, BundleError> {
        for name in names {
            let component = Component::named(name.as_ref())?;
            if !self.components.iter().any(|there| there.name == component.name) {
                self.components.push(component);
            }
        }
        Ok(self)
    }

    /// Only these components.
    pub fn only<S: AsRef<str>>(self, names: &[S]) -> Result<Self, BundleError> {
        Self { components: Vec::new(), ..self }.with_extras(names)
    }

    /// What a component's image is called, if it is one.
    pub(crate) fn image_of(&self, component: &Component) -> Option<String> {
        match component.shape {
            Shape::Image { .. } => Some(self.image_name(component.name, component.version)),
            Shape::Programs { .. } => None,
        }
    }

    /// A name with the prefix and a tag.
    pub(crate) fn image_name(&self, name: &str, version: &str) -> String {
        format!("{}/{name}:{version}", self.image_prefix.trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(wanted: &Wanted) -> Vec<&str> {
        wanted.components.iter().map(|component| component.name).collect()
    }

    #[test]
    fn extras_come_only_when_asked_for() {
        assert!(!names(&Wanted::default()).contains(&"kubeadm"));
        let more = Wanted::default().with_extras(&["kubeadm", "etcd", "kubeadm"]).unwrap();
        assert_eq!(names(&more).len(), names(&Wanted::default()).len() + 1);
        assert_eq!(names(&Wanted::default().only(&["runc"]).unwrap()), ["runc"]);
        assert!(Wanted::default().only(&["runk"]).is_err());
    }

    #[test]
    fn images_are_named_with_prefix_and_version() {
        let wanted = Wanted { image_prefix: "registry.example/mirror/".to_owned(), ..Wanted::default() };
        let version = Component::named("pause").unwrap().version;
        let image = wanted.image_of(Component::named("pause").unwrap());
        assert_eq!(image, Some(format!("registry.example/mirror/pause:{version}")));
        assert_eq!(wanted.image_of(Component::named("etcd").unwrap()), None);
    }
}
