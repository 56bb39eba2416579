//! Images of the bundle that containerd no longer has. Without the one that holds a pod's namespaces no pod starts.

use playbooks::cluster::{self, ids};

use crate::{Check, Checking, Context, Finding, Inconclusive, Part, codes::NO_BUNDLE_IMAGE};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new("images", "images of the bundle in containerd", &[NO_BUNDLE_IMAGE], check);

/// Every pod needs it.
const PAUSE: &str = "pause";

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        // A containerd that does not run is reported elsewhere, and cannot be asked.
        let is_up = context.units().await?.get("containerd.service").is_up();
        let has_all = context.was_done(ids::IMAGES).await?;
        if !is_up || !(has_all || context.was_done(ids::PAUSE_IMAGE).await?) {
            return Ok(Vec::new());
        }
        let manifest = cluster::installed_bundle(&context.host);
        let Some(manifest) = manifest.map_err(|error| Inconclusive(explain::chain(&error)))? else {
            return Ok(Vec::new());
        };
        let there = context.output("ctr", ["--namespace", "k8s.io", "images", "list", "--quiet"]).await?;
        let images = manifest.components.iter().filter_map(|entry| {
            Some((entry.name.as_str(), entry.image.as_deref()?, entry.files.first()?.path.as_str()))
        });
        let imported = images.filter(|(name, ..)| has_all || *name == PAUSE);
        Ok(imported.filter_map(|(name, image, archive)| evaluate(name, image, archive, &there)).collect())
    })
}

/// An image that no pod of this node uses right now may be removed by the kubelet: that is worth a word, no more.
fn evaluate(name: &str, image: &str, archive: &str, there: &str) -> Option<Finding> {
    if there.lines().any(|line| line.trim() == image) {
        return None;
    }
    let fix =
        format!("`ctr -n k8s.io images import --local /opt/blackstart/current/{archive}`, or `blackstart node up`");
    Some(if name == PAUSE {
        let evidence = format!("containerd does not have {image}, without which no pod starts");
        Finding::cause(NO_BUNDLE_IMAGE, Part::Kubelet, evidence).with_fix(fix)
    } else {
        let evidence = format!("containerd does not have {image}; its pods cannot start on this node");
        Finding::warning(NO_BUNDLE_IMAGE, Part::Workloads, evidence).with_fix(fix)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn the_image_of_every_pod_weighs_more() {
        let there = "blackstart.local/coredns:1\nother\n";
        let kind = |name: &str, there: &str| {
            evaluate(name, &format!("blackstart.local/{name}:1"), "images/x.tar", there).map(|finding| finding.kind)
        };
        assert_eq!(kind("coredns", there), None);
        assert_eq!(kind("coredns", ""), Some(Kind::Warning));
        assert_eq!(kind("pause", there), Some(Kind::Cause));
        assert_eq!(kind("pause", "blackstart.local/pause:1"), None);
    }
}
