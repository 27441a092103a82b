//! The live upstream. Only a recording asks one, and only a build with the feature `record` can.

use std::io::Read;

use super::http::Headers;

/// A request to send on.
pub(super) struct Call<'a> {
    pub(super) url: String,
    pub(super) headers: Headers,
    pub(super) body: &'a [u8],
}

/// What came back, whatever its status; the body is read as it arrives.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Headers,
    /// Fails where the upstream breaks off before the body's announced end.
    pub(super) body: Box<dyn Read + Send>,
}

/// Why there is no answer.
pub(super) enum Failure {
    /// This build has no client.
    NotBuilt,
    /// Not reached, not in time, or nothing that can be passed on.
    Unreachable(String),
}

#[cfg(not(feature = "record"))]
pub(super) fn send(_: Call<'_>) -> Result<Answer, Failure> {
    Err(Failure::NotBuilt)
}

#[cfg(feature = "record")]
pub(super) use live::send;

#[cfg(feature = "record")]
mod live {
    use std::sync::LazyLock;
    use std::time::Duration;

    use ureq::Agent;
    use ureq::http::{HeaderValue, Uri};

    use super::{Answer, Call, Failure};
    use crate::gateway::http::Headers;

    const CONNECT: Duration = Duration::from_secs(30);
    /// A model may think for long before it answers, and between two pieces of a stream.
    const SILENCE: Duration = Duration::from_secs(600);

    static AGENT: LazyLock<Agent> = LazyLock::new(|| {
        Agent::config_builder()
            .http_status_as_error(false)
            // A redirect answered to the client would lead it round the gateway, and a POST cannot follow one here.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(SILENCE))
            .timeout_per_read(Some(SILENCE))
            // A connection that the upstream closed while it was idle must not fail a recording.
            .max_idle_connections(0)
            .build()
            .into()
    });

    /// Posts `call` and returns as soon as the response's head is there.
    pub(in crate::gateway) fn send(call: Call<'_>) -> Result<Answer, Failure> {
        let unreachable = |error: ureq::Error| Failure::Unreachable(error.to_string());
        let uri = call.url.parse().ok().filter(|uri: &Uri| uri.scheme().is_some() && uri.host().is_some());
        let Some(uri) = uri else {
            return Err(Failure::Unreachable("its address is no URL".into()));
        };
        let local = is_loopback(&uri);

        let mut post = AGENT.post(uri);
        for (name, value) in call.headers.iter() {
            let Ok(value) = HeaderValue::from_bytes(value) else {
                // The value may be a key, so it is not shown.
                return Err(Failure::Unreachable(format!("the header `{name}` has a value that cannot be sent")));
            };
            post = post.header(name, value);
        }
        if local {
            post = post.config().proxy(None).build();
        }
        let response = post.send(call.body).map_err(unreachable)?;

        let mut headers = Headers::default();
        for (name, value) in response.headers() {
            headers.push(name.as_str(), value.as_bytes());
        }
        let status = response.status().as_u16();
        if (300..400).contains(&status) {
            let place = headers.get("location").unwrap_or("nowhere");
            return Err(Failure::Unreachable(format!(
                "it redirects to {place}; name that address as the provider's upstream"
            )));
        }
        if let Some(encoding) = headers.get("content-encoding").filter(|e| *e != "identity") {
            return Err(Failure::Unreachable(format!(
                "it answers in the encoding {encoding}, which was not asked for"
            )));
        }
        Ok(Answer { status, headers, body: Box::new(response.into_body().into_reader()) })
    }

    /// Proxy variables are meant for the world outside, also where `NO_PROXY` forgets to say so.
    fn is_loopback(uri: &Uri) -> bool {
        let host = uri.host().unwrap_or_default();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        bare.eq_ignore_ascii_case("localhost")
            || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}
