//! What keeps a replayed agent from the network.
//!
//! Proxy variables that point at the gateway are a matter of the child's environment: they explain themselves, and a
//! client is free not to look at them. Landlock, on Linux 6.7 and later, is the kernel's: TCP connections of the child
//! and of all that it starts are refused, but for some ports. It is a guard against accidents, not a sandbox:
//!
//! - It knows ports, not hosts. With `example.com` allowed, every host can be reached on the ports 443 and 80 by those
//!   who look at no proxy variable.
//! - UDP, so name look-ups and QUIC, and Unix sockets are not covered. Listening is free, files are not touched.
//! - Like everything that Landlock restricts, the child gains no privileges by running a setuid program such as `sudo`.

use trajectly_engine::spec;

/// Where a child may connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Network {
    /// Anywhere.
    Open,
    /// To these TCP ports.
    Ports(Vec<u16>),
}

/// What kept a child from the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Nothing: the run was a live one.
    None,
    /// The proxy variables alone, and why nothing else did.
    Proxy(String),
    /// The proxy variables, and the kernel.
    Landlock,
}

impl Network {
    /// The gateway's port, and those of the hosts that the spec allows. A host without a port is one of the web's.
    pub(crate) fn replay(gateway: u16, allowed: &spec::Network) -> Self {
        let mut ports = vec![gateway];
        for host in allowed.allowed() {
            match host.port {
                Some(port) => ports.push(port),
                None => ports.extend([443, 80]),
            }
        }
        ports.sort_unstable();
        ports.dedup();
        Self::Ports(ports)
    }

    /// Restricts the calling thread, and all processes that it will start, for good.
    pub(super) fn restrict_this_thread(&self) -> Guard {
        match self {
            Self::Open => Guard::None,
            Self::Ports(ports) => match restrict_this_thread(ports) {
                Ok(()) => Guard::Landlock,
                Err(reason) => Guard::Proxy(reason),
            },
        }
    }

    /// What guards an agent that has no process of its own.
    pub(super) fn without_process(&self) -> Guard {
        match self {
            Self::Open => Guard::None,
            Self::Ports(_) => Guard::Proxy("the agent ran in the harness's own process".to_owned()),
        }
    }
}

impl Guard {
    /// Its name in a report, if there was one.
    pub(crate) const fn name(&self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Proxy(_) => Some("proxy"),
            Self::Landlock => Some("landlock+proxy"),
        }
    }
}

#[cfg(target_os = "linux")]
fn restrict_this_thread(ports: &[u16]) -> Result<(), String> {
    use landlock::{
        AccessNet, CompatLevel, Compatible as _, NetPort, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
        RulesetError,
    };

    let restrict = || {
        let rules = ports.iter().map(|port| Ok::<_, RulesetError>(NetPort::new(*port, AccessNet::ConnectTcp)));
        Ruleset::default()
            // What a kernel does not know is an error, rather than left out.
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessNet::ConnectTcp)?
            .create()?
            .add_rules(rules)?
            .restrict_self()
    };
    restrict().map(drop).map_err(|error| format!("this kernel does not restrict TCP connections: {error}"))
}

#[cfg(not(target_os = "linux"))]
fn restrict_this_thread(_: &[u16]) -> Result<(), String> {
    Err("this system does not restrict the connections of a process".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_reaches_the_gateway_and_what_is_allowed() {
        for (allowlist, allow_domains, ports) in [
            (&[][..], &[][..], &[4000][..]),
            (&["10.0.0.1:5432", "[::1]:6379"], &[], &[4000, 5432, 6379]),
            (&["example.com"], &["*.example.org", "example.net:443"], &[80, 443, 4000]),
            (&["example.com:99999"], &[], &[4000]),
        ] {
            let owned = |hosts: &[&str]| hosts.iter().map(|host| (*host).to_owned()).collect();
            let allowed = spec::Network {
                allowlist: owned(allowlist),
                allow_domains: owned(allow_domains),
                ..spec::Network::default()
            };
            assert_eq!(Network::replay(4000, &allowed), Network::Ports(ports.to_vec()), "{allowlist:?}");
        }
    }
}
