//! The host in an address.

use std::net::Ipv6Addr;

/// The host of a text that is an address as a whole.
pub(crate) fn of(text: &str) -> Option<String> {
    authority(text).and_then(|authority| of_authority(&authority))
}

/// What stands between `//` and the path of a URL. Blanks and control characters before it do not count, nor do tabs and line breaks
/// anywhere in it: clients take them out.
pub(crate) fn authority(url: &str) -> Option<String> {
    let url = url.trim_start_matches(|c: char| c <= ' ').replace(['\t', '\r', '\n'], "");
    let after_scheme = match url.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => rest,
        _ => &url,
    };
    let rest = after_scheme.strip_prefix("//")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    Some(rest[..end].to_owned())
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// The host of an authority in lower case, without user and port; none if there is none, or if a bracketed one is no IPv6 address.
pub(crate) fn of_authority(authority: &str) -> Option<String> {
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = match host.strip_prefix('[') {
        Some(inner) => inner.split_once(']').map(|(address, _)| address).filter(|address| is_ipv6(address))?,
        None if host.contains(['[', ']']) => return None,
        None => host.split(':').next().unwrap_or(host),
    };
    (!host.is_empty()).then(|| host.to_lowercase())
}

fn is_ipv6(text: &str) -> bool {
    let address = text.split('%').next().unwrap_or(text);
    address.parse::<Ipv6Addr>().is_ok()
}
