//! Looks up the spec file while the test compiles.

use std::path::{Component, Path, PathBuf};

use crate::nearest::distance;

/// Folders and files looked at for a suggestion, at most: a compile must not crawl a large tree.
const LOOKED_AT: usize = 2_000;

/// What is wrong with `spec`, a path relative to `root`; nothing if it names a file.
///
/// The message holds no absolute path, so that it reads the same on every machine.
pub(super) fn missing(spec: &str, root: &Path) -> Option<String> {
    if Path::new(spec).is_absolute() {
        return Some("`spec` must be relative to the folder of Cargo.toml".to_owned());
    }
    let path = root.join(spec);
    if path.is_file() {
        return None;
    }
    if path.is_dir() {
        return Some(format!("`{spec}` is a folder; name the spec file in it"));
    }
    let mut message = format!("there is no spec file `{spec}`, looked up from the folder of Cargo.toml");
    if let Some(near) = nearest_spec(spec, root) {
        message.push_str(&format!("; did you mean `{near}`?"));
    }
    Some(message)
}

/// The `*.agent.yaml` under `root` that is most likely meant: its file name must be close, and the closest path wins.
fn nearest_spec(spec: &str, root: &Path) -> Option<String> {
    let name = file_name(spec);
    let allowed = (name.chars().count() / 3).max(1);
    specs_under(root)
        .into_iter()
        .map(|path| {
            let distances = (distance(&stem(name), &stem(file_name(&path))), distance(spec, &path));
            (distances, path)
        })
        .filter(|((by_name, _), _)| *by_name <= allowed)
        .min()
        .map(|(_, path)| path)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The name without its endings, so that `triage.yaml` is near `triage.agent.yaml`.
fn stem(name: &str) -> String {
    let name = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml")).unwrap_or(name);
    name.strip_suffix(".agent").unwrap_or(name).to_owned()
}

/// The spec files under `root`, as relative paths with `/`, in order. Hidden folders and build output are left out.
fn specs_under(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    let mut looked_at = 0;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            looked_at += 1;
            if looked_at > LOOKED_AT {
                found.sort();
                return found;
            }
            let name = path.file_name().map(|name| name.to_string_lossy());
            let Some(name) = name.filter(|name| !name.starts_with('.') && name != "target") else {
                continue;
            };
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if name.ends_with(".agent.yaml") {
                found.extend(path.strip_prefix(root).ok().map(slashed));
            }
        }
    }
    found.sort();
    found
}

fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(part) => Some(part.to_string_lossy()),
            _ => None,
        })
        .collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::missing;

    #[test]
    fn names_what_was_looked_for_and_what_stands_near() {
        let root = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(root.path().join("specs/shop")).expect("folders");
        fs::create_dir_all(root.path().join("target")).expect("folders");
        for file in ["specs/support_triage.agent.yaml", "specs/shop/search_buy.agent.yaml", "target/hidden.agent.yaml"]
        {
            fs::write(root.path().join(file), "").expect("a file");
        }
        for (spec, expected) in [
            ("specs/support_triage.agent.yaml", None),
            ("./specs/../specs/support_triage.agent.yaml", None),
            ("/etc/hosts", Some("`spec` must be relative to the folder of Cargo.toml")),
            ("specs", Some("`specs` is a folder; name the spec file in it")),
            (
                "specs/suport_triage.agent.yaml",
                Some(
                    "there is no spec file `specs/suport_triage.agent.yaml`, looked up from the folder of Cargo.toml; \
                     did you mean `specs/support_triage.agent.yaml`?",
                ),
            ),
            (
                "search_buy.yaml",
                Some(
                    "there is no spec file `search_buy.yaml`, looked up from the folder of Cargo.toml; \
                     did you mean `specs/shop/search_buy.agent.yaml`?",
                ),
            ),
            (
                "hidden.agent.yaml",
                Some("there is no spec file `hidden.agent.yaml`, looked up from the folder of Cargo.toml"),
            ),
        ] {
            assert_eq!(missing(spec, root.path()).as_deref(), expected, "{spec}");
        }
    }
}
