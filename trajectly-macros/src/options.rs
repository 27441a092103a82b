//! An attribute's arguments as options: `key`, `key = value`, `key(list)`.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{LitStr, Path};

use crate::error::Errors;
use crate::nearest::nearest;

/// An option of a macro: its key, and how to write it, for error messages.
pub(crate) struct Known {
    pub(crate) key: &'static str,
    pub(crate) example: &'static str,
}

/// One option as written, or as probably meant.
pub(crate) struct Given {
    pub(crate) known: &'static Known,
    pub(crate) key: Span,
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
    /// Something that is reported already.
    Misread,
}

/// Splits `arguments` at their commas and reports each part that is not a known option given once.
///
/// A part is read whatever the parts before it hold, which is what lets all mistakes be shown together. One that cannot
/// be read but is close to an option still counts as that option, so that it is not reported as absent on top.
pub(crate) fn read(
    arguments: TokenStream,
    macro_name: &str,
    known: &'static [Known],
    errors: &mut Errors,
) -> Vec<Given> {
    let mut given: Vec<Given> = Vec::new();
    for part in split(arguments) {
        let Some(option) = read_one(&part, macro_name, known, errors) else {
            continue;
        };
        let key = option.known.key;
        if !matches!(option.value, Value::Misread) && given.iter().any(|other| other.known.key == key) {
            errors.at(option.key, format!("option `{key}` is given twice"));
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

fn read_one(part: &[TokenTree], macro_name: &str, known: &'static [Known], errors: &mut Errors) -> Option<Given> {
    let Some((TokenTree::Ident(key), rest)) = part.split_first() else {
        let all: TokenStream = part.iter().cloned().collect();
        let first = known.first()?;
        errors.on(&all, format!("expected an option, such as `{}`", first.example));
        return Some(Given { known: first, key: Span::call_site(), value: Value::Misread });
    };
    let key_is = |known: &&Known| key == known.key;
    if let Some(known) = known.iter().find(key_is) {
        let value = value(key, rest, known, errors);
        return Some(Given { known, key: key.span(), value });
    }
    let word = key.to_string();
    match nearest(&word, known.iter().map(|known| known.key)) {
        Some(near) => {
            errors.at(key.span(), format!("unknown option `{word}`; did you mean `{near}`?"));
            let known = known.iter().find(|known| known.key == near)?;
            Some(Given { known, key: key.span(), value: Value::Misread })
        }
        None => {
            let all: Vec<_> = known.iter().map(|known| format!("`{}`", known.key)).collect();
            let all = all.join(", ");
            errors.at(key.span(), format!("unknown option `{word}`; #[{macro_name}] takes {all}"));
            None
        }
    }
}

fn value(key: &Ident, rest: &[TokenTree], known: &Known, errors: &mut Errors) -> Value {
    match rest {
        [] => Value::None,
        [TokenTree::Punct(equals)] if equals.as_char() == '=' => {
            errors.at(equals.span(), known.expected());
            Value::Misread
        }
        [TokenTree::Punct(equals), TokenTree::Literal(_), extra, ..] if equals.as_char() == '=' => {
            errors.on(extra, format!("expected a comma after `{key} = …`"));
            Value::Misread
        }
        [TokenTree::Punct(equals), value @ ..] if equals.as_char() == '=' => {
            Value::Assigned(value.iter().cloned().collect())
        }
        [TokenTree::Group(list)] if list.delimiter() == Delimiter::Parenthesis => Value::List(list.clone()),
        [other, ..] => {
            errors.on(other, known.expected());
            Value::Misread
        }
    }
}

impl Known {
    fn expected(&self) -> String {
        format!("expected the form `{}`", self.example)
    }
}

impl Given {
    /// The value as a string literal with something in it.
    pub(crate) fn text(&self, errors: &mut Errors) -> Option<LitStr> {
        let literal: LitStr = self.assigned(<LitStr as Parse>::parse, errors)?;
        if literal.value().trim().is_empty() {
            errors.on(&literal, format!("`{}` is empty; {}", self.known.key, self.known.expected()));
            return None;
        }
        Some(literal)
    }

    /// The value as a path, such as `my_crate::reexports::trajectly_test`.
    pub(crate) fn path(&self, errors: &mut Errors) -> Option<Path> {
        self.assigned(Path::parse_mod_style, errors)
    }

    /// What stands after `=`, read by `parser`.
    pub(crate) fn assigned<T>(&self, parser: fn(ParseStream<'_>) -> syn::Result<T>, errors: &mut Errors) -> Option<T> {
        let Value::Assigned(tokens) = &self.value else {
            return self.misshapen(errors);
        };
        let value = parser.parse2(tokens.clone()).ok();
        if value.is_none() {
            errors.on(tokens, self.known.expected());
        }
        value
    }

    /// Reports that the value has not the form that the option takes, unless that is said already.
    pub(crate) fn misshapen<T>(&self, errors: &mut Errors) -> Option<T> {
        match &self.value {
            Value::Misread => {}
            Value::List(list) => errors.at(list.span(), self.known.expected()),
            Value::None | Value::Assigned(_) => errors.at(self.key, self.known.expected()),
        }
        None
    }
}
