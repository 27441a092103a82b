//! An attribute's arguments as options: `key`, `key = value`, `key(list)`.

use std::fmt::Write as _;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::parse::Parser as _;
use syn::{LitStr, Path};

use crate::error::Errors;
use crate::nearest::nearest;

/// An option of a macro: its key, and how to write it, for error messages.
pub(crate) struct Known {
    pub(crate) key: &'static str,
    pub(crate) example: &'static str,
}

/// One option as written. Its key is known and not given before.
pub(crate) struct Given {
    pub(crate) known: &'static Known,
    pub(crate) key: Ident,
    pub(crate) value: Value,
}

/// What stands after the key.
pub(crate) enum Value {
    /// Nothing.
    None,
    /// `= tokens`, not empty.
    Assigned(TokenStream),
    /// `(tokens)`.
    List(Group),
}

/// Splits `arguments` at their commas and reports each part that is not a known option given once.
///
/// A part is read whatever the parts before it hold, which is what lets all mistakes be shown together.
pub(crate) fn read(
    arguments: TokenStream,
    macro_name: &str,
    known: &'static [Known],
    errors: &mut Errors,
) -> Vec<Given> {
    let mut given: Vec<Given> = Vec::new();
    for part in split(arguments) {
        let Some(option) = read_one(part, macro_name, known, errors) else {
            continue;
        };
        if given.iter().any(|other| other.key == option.key) {
            errors.at(option.key.span(), format!("option `{}` is given twice", option.key));
        } else {
            given.push(option);
        }
    }
    given
}

fn split(arguments: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![Vec::new()];
    for tree in arguments {
        match (&tree, parts.last_mut()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == ',' => parts.push(Vec::new()),
            (_, Some(part)) => part.push(tree),
            (_, None) => parts.push(vec![tree]),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn read_one(part: Vec<TokenTree>, macro_name: &str, known: &'static [Known], errors: &mut Errors) -> Option<Given> {
    let mut trees = part.iter();
    let Some(TokenTree::Ident(key)) = trees.next() else {
        let all: TokenStream = part.into_iter().collect();
        let first = known.first().map_or("", |known| known.example);
        errors.on(all, format!("expected an option, such as `{first}`"));
        return None;
    };
    let Some(known) = known.iter().find(|known| key == known.key) else {
        errors.at(key.span(), unknown(key, macro_name, known));
        return None;
    };
    let value = match trees.next() {
        None => Value::None,
        Some(TokenTree::Punct(punct)) if punct.as_char() == '=' => {
            let value: TokenStream = trees.by_ref().cloned().collect();
            if value.is_empty() {
                errors.at(punct.span(), format!("expected `{}`", known.example));
                return None;
            }
            Value::Assigned(value)
        }
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => Value::List(group.clone()),
        Some(other) => {
            errors.on(other, format!("expected `{}`", known.example));
            return None;
        }
    };
    if let Some(extra) = trees.next() {
        errors.on(extra, "expected a comma");
        return None;
    }
    Some(Given { known, key: key.clone(), value })
}

fn unknown(key: &Ident, macro_name: &str, known: &[Known]) -> String {
    let word = key.to_string();
    if let Some(near) = nearest(&word, known.iter().map(|known| known.key)) {
        return format!("unknown option `{word}`; did you mean `{near}`?");
    }
    let mut message = format!("unknown option `{word}`; #[{macro_name}] takes ");
    for (index, known) in known.iter().enumerate() {
        let _ = write!(message, "{}`{}`", if index == 0 { "" } else { ", " }, known.key);
    }
    message
}

impl Given {
    /// The value as a string literal with something in it.
    pub(crate) fn text(&self, errors: &mut Errors) -> Option<LitStr> {
        let literal: LitStr = self.assigned(errors)?;
        if literal.value().trim().is_empty() {
            errors.on(&literal, format!("`{}` is empty; expected `{}`", self.key, self.known.example));
            return None;
        }
        Some(literal)
    }

    /// The value as a path, such as `my_crate::reexports::trajectly_test`.
    pub(crate) fn path(&self, errors: &mut Errors) -> Option<Path> {
        match &self.value {
            Value::Assigned(tokens) => {
                match Path::parse_mod_style.parse2(tokens.clone()) {
                    Ok(path) => return Some(path),
                    Err(_) => errors.on(tokens, self.expected()),
                }
                None
            }
            _ => self.misshapen(errors),
        }
    }

    /// The value after `=`, parsed.
    pub(crate) fn assigned<T: syn::parse::Parse>(&self, errors: &mut Errors) -> Option<T> {
        match &self.value {
            Value::Assigned(tokens) => match syn::parse2(tokens.clone()) {
                Ok(value) => Some(value),
                Err(_) => {
                    errors.on(tokens, self.expected());
                    None
                }
            },
            _ => self.misshapen(errors),
        }
    }

    /// Reports that the value has not the shape that the option takes.
    pub(crate) fn misshapen<T>(&self, errors: &mut Errors) -> Option<T> {
        errors.at(self.span(), self.expected());
        None
    }

    fn expected(&self) -> String {
        format!("expected `{}`", self.known.example)
    }

    fn span(&self) -> Span {
        match &self.value {
            Value::List(group) => group.span(),
            Value::None | Value::Assigned(_) => self.key.span(),
        }
    }
}
