//! One spec from several files: what it `extends`, and the blocks it takes from files of their own: `contracts.config`, `abstraction.config`.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use super::file::read;
use super::locate::Fault;
use super::node::{Entry, Node, Place, Sources, Value};
use super::yaml;

/// How many files one after the other may extend the next.
const LONGEST_CHAIN: usize = 16;

/// A file, by the path it is read from and by the name it is shown under.
#[derive(Clone)]
struct File {
    path: PathBuf,
    shown: String,
}

/// Reads a spec's text and the files it builds on into one tree; places tell which file each value comes from.
///
/// What a spec says itself wins over what it extends: mappings merge key by key, everything else replaces. What it says in a block
/// wins in the same way over the file that the block's `config` names. Paths are relative to the file that says them.
pub(super) fn compose(text: &str, path: &Path, shown: &str, sources: &mut Sources) -> Result<Node, Vec<Fault>> {
    let file = File { path: path.to_owned(), shown: shown.to_owned() };
    let mut composer = Composer { sources };
    let mut node = composer.parse(text, &file)?;
    let mut chain = vec![file];
    let mut layers = Vec::new();
    while let Some(base) = composer.extended(&mut node, &chain)? {
        layers.push(std::mem::replace(&mut node, base.node));
        chain.push(base.file);
    }
    let mut tree = layers.into_iter().rev().fold(node, lay_over);
    for block in ["contracts", "abstraction"] {
        composer.with_config(&mut tree, block)?;
    }
    Ok(tree)
}

/// A file that was read.
struct Read {
    file: File,
    node: Node,
}

struct Composer<'s> {
    sources: &'s mut Sources,
}

impl Composer<'_> {
    fn parse(&mut self, text: &str, file: &File) -> Result<Node, Vec<Fault>> {
        let folder = file.path.parent().unwrap_or(Path::new(""));
        let source = self.sources.add(&file.shown, folder, text);
        yaml::read(text, source)
    }

    /// Takes `extends` out of a spec and reads what it names.
    fn extended(&mut self, node: &mut Node, chain: &[File]) -> Result<Option<Read>, Vec<Fault>> {
        let Some(entry) = node.remove("extends") else { return Ok(None) };
        let Some(file) = self.named(&entry, "extends")? else { return Ok(None) };
        let fault = |message, help| Err(vec![Fault { place: place(&entry), message, help: Some(help) }]);
        if let Some(start) = chain.iter().position(|earlier| earlier.path == file.path) {
            let ring: Vec<&str> = chain[start..].iter().chain([&file]).map(|file| file.shown.as_str()).collect();
            let help = "take `extends` out of one of them";
            return fault(format!("`extends` goes round in a ring: {}", ring.join(" -> ")), help);
        }
        if chain.len() > LONGEST_CHAIN {
            let message =
                format!("this is the end of a chain of more than {LONGEST_CHAIN} files that extend one another");
            return fault(message, "put what they say into fewer files");
        }
        let node = self.read(&file, &entry, "extends")?;
        // Anything else would be laid over whole, and what a spec thinks it inherits would be gone.
        let Value::Map(_) = &node.value else {
            let message = format!("`extends` names {}, which must be a mapping, not {}", file.shown, node.described());
            return fault(message, "write a spec into that file, or take `extends` out");
        };
        Ok(Some(Read { file, node }))
    }

    /// Lays what the spec says in a block over the file that the block's `config` names.
    fn with_config(&mut self, tree: &mut Node, block: &str) -> Result<(), Vec<Fault>> {
        let Some(own) = tree.entry_mut(block) else { return Ok(()) };
        let Some(entry) = own.node.remove("config") else { return Ok(()) };
        let key = format!("{block}.config");
        let Some(file) = self.named(&entry, &key)? else { return Ok(()) };
        let config = held(self.read(&file, &entry, &key)?, block, &entry)?;
        own.node = lay_over(config, std::mem::take(&mut own.node));
        Ok(())
    }

    /// The file that the value of a key names; none if the key has no value.
    fn named(&self, entry: &Entry, path: &str) -> Result<Option<File>, Vec<Fault>> {
        let name = match &entry.node.value {
            Value::Null => return Ok(None),
            Value::String(name) if !name.trim().is_empty() => name.trim(),
            _ => {
                let message = format!("`{path}` must be the path of a file, not {}", entry.node.described());
                return Err(vec![Fault { place: place(entry), message, help: Some("write one path") }]);
            }
        };
        let source = place(entry).source;
        let shown = Path::new(self.sources.file(source)).parent().unwrap_or(Path::new("")).join(name);
        Ok(Some(File {
            path: normalized(&self.sources.folder(source).join(name)),
            shown: normalized(&shown).to_string_lossy().replace('\\', "/"),
        }))
    }

    fn read(&mut self, file: &File, entry: &Entry, path: &str) -> Result<Node, Vec<Fault>> {
        let text = read(&file.path).map_err(|error| error.to_string());
        let text = text.and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned()));
        match text {
            Ok(text) => self.parse(&text, file),
            Err(error) => {
                let message = format!("`{path}` names {}, which cannot be read: {error}", file.shown);
                let help = Some("give the path of a file, from the folder of the file that says so");
                Err(vec![Fault { place: place(entry), message, help }])
            }
        }
    }
}

/// What a file says of a block of the spec: the file itself, or what the key of that name holds in it.
fn held(mut node: Node, block: &str, config: &Entry) -> Result<Node, Vec<Fault>> {
    let fault = |place, message: String, help| Err(vec![Fault { place, message, help }]);
    let kind = if block == "contracts" { "a contracts file" } else { "an abstraction file" };
    let Value::Map(_) = &node.value else {
        let found = node.described();
        let at = node.place.unwrap_or(place(config));
        let help = Some("write its keys as in the spec, each as `key: value`");
        return fault(at, format!("{kind} must be a mapping, not {found}"), help);
    };
    // The form of the whole file, which says nothing about the block.
    node.remove("schema_version");
    if let Some(entry) = node.entry("refinement") {
        let help = Some("move it into the spec");
        return fault(place(entry), format!("`refinement` cannot stand in {kind}"), help);
    }
    let Some(inner) = node.remove(block) else { return Ok(node) };
    if let Value::Map(rest) = &node.value
        && let Some(entry) = rest.iter().find(|entry| !entry.key.starts_with("x-"))
    {
        let message = format!("unknown key `{}` in {kind}", entry.key);
        return fault(place(entry), message, Some("it belongs in the spec"));
    }
    Ok(inner.node)
}

/// Puts `over` on top of `base`: mappings merge, everything else replaces.
fn lay_over(base: Node, over: Node) -> Node {
    match (base.value, over.value) {
        (Value::Map(mut entries), Value::Map(above)) => {
            let known: HashMap<String, usize> =
                entries.iter().enumerate().map(|(at, entry)| (entry.key.clone(), at)).collect();
            for entry in above {
                match known.get(&entry.key) {
                    Some(&at) => {
                        let below = std::mem::take(&mut entries[at].node);
                        entries[at] = Entry { node: lay_over(below, entry.node), ..entry };
                    }
                    None => entries.push(entry),
                }
            }
            Node { value: Value::Map(entries), place: over.place }
        }
        (_, value) => Node { value, place: over.place },
    }
}

/// Where to point for the value of a key in a text; every value and key there has a place.
fn place(entry: &Entry) -> Place {
    entry.node.mark(entry.key_place).unwrap_or_default()
}

/// The path without `.` and, as far as it goes, without `..`.
fn normalized(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(normalized.components().next_back(), Some(Component::Normal(_))) => {
                normalized.pop();
            }
            component => normalized.push(component),
        }
    }
    normalized
}
