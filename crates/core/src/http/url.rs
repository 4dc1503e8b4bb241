//! URLs of targets: read once by the rules browsers use, so that every spelling of an address is
//! seen for what it is, and the URL that was checked is the URL that is called.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use url::{Host, Url};

use super::address::Reach;
use crate::error::{Invalid, Refusal, check_size};
use crate::limits::URL_BYTES_MAX;

const RULE: &str = "an http:// or https:// URL without user information";

/// A URL that a delivery can go to.
#[derive(Clone, PartialEq, Eq)]
pub struct TargetUrl(Url);

impl TargetUrl {
    /// Reads a URL and checks that it can be a target at all. Where it may point is
    /// [`TargetUrl::check_reach`]'s business, and the connection's.
    pub fn parse(field: &'static str, text: &str) -> Result<Self, Refusal> {
        check_size(field, text.len(), URL_BYTES_MAX)?;
        // The parser would silently drop some of these.
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(Invalid::new(field, "no spaces and no control characters").into());
        }
        let url = Url::parse(text).ok().filter(is_target);
        match url {
            Some(url) => Ok(Self(url)),
            None => Err(Invalid::new(field, RULE).into()),
        }
    }

    /// Refuses an address that deliveries may not go to, however it is spelled. Names are looked
    /// up, and checked, when a connection is made.
    pub fn check_reach(&self, field: &'static str, reach: &Reach) -> Result<(), Invalid> {
        let permitted = match self.ip() {
            Some(ip) => reach.permits(SocketAddr::new(ip, self.port())),
            None => !is_localhost(self.host()) || reach.permits_loopback(),
        };
        if permitted {
            return Ok(());
        }
        let rule = format!(
            "{} is private; name a public target, or allow private ones in the server's settings",
            self.authority()
        );
        Err(Invalid::new(field, rule))
    }

    /// The same with more in its query string; none, if it becomes too long.
    pub(crate) fn with_query(&self, more: &str) -> Option<Self> {
        if more.is_empty() {
            return Some(self.clone());
        }
        let mut url = self.0.clone();
        let query = match self.0.query() {
            Some(own) if !own.is_empty() => format!("{own}&{more}"),
            _ => more.to_owned(),
        };
        url.set_query(Some(&query));
        (url.as_str().len() <= URL_BYTES_MAX).then_some(Self(url))
    }

    /// Where a redirect from here leads.
    pub(super) fn join(&self, location: &str) -> Option<Self> {
        let mut url = self.0.join(location).ok().filter(is_target)?;
        url.set_fragment(None);
        (url.as_str().len() <= URL_BYTES_MAX).then_some(Self(url))
    }

    /// Whether it is of the same scheme, host and port.
    pub fn is_same_origin(&self, other: &Self) -> bool {
        self.0.origin() == other.0.origin()
    }

    /// Whether the connection is encrypted.
    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The host: a name in lower case, or an address (IPv6 in brackets).
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The host, if it is an address.
    pub fn ip(&self) -> Option<IpAddr> {
        match self.0.host()? {
            Host::Ipv4(ip) => Some(ip.into()),
            Host::Ipv6(ip) => Some(ip.into()),
            Host::Domain(_) => None,
        }
    }

    /// The port, also where the URL leaves it to the scheme.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    /// Host and port: what shares a limit of connections, and a lane.
    pub fn authority(&self) -> String {
        format!("{}:{}", self.host(), self.port())
    }

    /// The URL without its fragment, as it is sent.
    pub fn as_str(&self) -> &str {
        let text = self.0.as_str();
        text.split('#').next().unwrap_or(text)
    }
}

impl fmt::Debug for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

fn is_target(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.username().is_empty()
        && url.password().is_none()
        && url.port() != Some(0)
}

fn is_localhost(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    host == "localhost" || host.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<TargetUrl, Refusal> {
        TargetUrl::parse("url", text)
    }

    #[test]
    fn only_web_addresses_are_targets() {
        for good in [
            "http://example.com",
            "https://example.com:8443/a?b=c#d",
            "HTTP://EXAMPLE.com/",
            "https://münchen.example/straße",
            "http://8.8.8.8/",
            "http://[2606:4700::1111]:8080/x",
        ] {
            assert!(read(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "example.com",
            "/path",
            "ftp://example.com/",
            "file:///etc/passwd",
            "javascript:1",
            "http://",
            "http:///",
            "http://u@example.com/",
            "http://u:p@example.com/",
            "http://:p@example.com/",
            "http://example.com:0/",
            "http://example.com:65536/",
            "http://exa mple.com/",
            "http://example.com/\r\n",
            "http://example.com/\0",
            "http://exa\tmple.com/",
            " http://example.com/",
            "http://example.com/\u{85}",
            "http://example.com/\u{2028}",
            "http://1.2.3.4.5/",
            "http://256.1.1.1/",
            "http://[::1/",
            "http://a%00b/",
            "gopher://example.com/",
        ] {
            let refusal = read(bad).unwrap_err().to_string();
            assert!(refusal.starts_with("url: "), "{bad}: {refusal}");
        }
        let long = format!("http://example.com/{}", "x".repeat(URL_BYTES_MAX));
        assert!(matches!(read(&long), Err(Refusal::TooLarge { field: "url", .. })));
    }

    #[test]
    fn private_addresses_are_seen_in_every_spelling() {
        for private in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://127.0.1:80/",
            "http://0177.0.0.1/",
            "http://0x7f.0.0.1/",
            "http://0x7f000001/",
            "http://2130706433/",
            "http://017700000001/",
            "http://0X7F.1/",
            "http://127.0.0.1./",
            "http://%31%32%37.0.0.1/",
            "http://①②⑦.0.0.1/",
            "http://127。0。0。1/",
            "http://0/",
            "http://0.0.0.0/",
            "http://[::]/",
            "http://[::1]/",
            "http://[0:0:0:0:0:0:0:1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[::127.0.0.1]/",
            "http://[64:ff9b::127.0.0.1]/",
            "http://[2002:7f00:1::]/",
            "http://169.254.169.254/latest",
            "http://2852039166/",
            "http://0xa9fea9fe/",
            "http://100.100.100.200/",
            "http://10.1/",
            "http://192.168.257/",
            "http://localhost/",
            "http://LOCALHOST:99/",
            "http://localhost./",
            "http://a.localhost/",
            "http://l%6fcalhost/",
            "https://ⓛocalhost/",
            "http:\\\\127.0.0.1\\",
            "http:127.0.0.1",
            "http:/127.0.0.1/",
        ] {
            let url = read(private).unwrap_or_else(|refusal| panic!("{private}: {refusal}"));
            let refusal = url.check_reach("url", &Reach::public()).unwrap_err().to_string();
            assert!(refusal.contains("is private"), "{private}: {refusal}");
            assert_eq!(url.check_reach("url", &Reach::everywhere()), Ok(()), "{private}");
        }
        for name in ["http://example.com/", "http://localhost.example/", "http://1.1.1.1/"] {
            assert_eq!(read(name).unwrap().check_reach("url", &Reach::public()), Ok(()), "{name}");
        }
        let loopback = Reach::with(vec!["127.0.0.0/8".parse().unwrap()]);
        assert_eq!(read("http://localhost/").unwrap().check_reach("url", &loopback), Ok(()));
        assert!(read("http://10.0.0.1/").unwrap().check_reach("url", &loopback).is_err());
    }

    #[test]
    fn an_authority_is_the_same_for_every_spelling() {
        for (url, authority) in [
            ("http://Example.com/a", "example.com:80"),
            ("https://example.com?x", "example.com:443"),
            ("http://example.com:443/", "example.com:443"),
            ("http://127.1:8080/", "127.0.0.1:8080"),
            ("http://[::0:1]/", "[::1]:80"),
        ] {
            assert_eq!(read(url).unwrap().authority(), authority);
        }
        let url = read("https://example.com/a/b?c=d#e").unwrap();
        assert_eq!(url.as_str(), "https://example.com/a/b?c=d");
        assert_eq!(url.join("../x").unwrap().as_str(), "https://example.com/x");
        assert_eq!(url.join("//other.example/").unwrap().host(), "other.example");
        assert_eq!(url.join("ftp://other.example/"), None);
        assert_eq!(url.join("https://u:p@other.example/"), None);
        assert!(url.is_same_origin(&read("https://EXAMPLE.com:443/").unwrap()));
        assert!(!url.is_same_origin(&read("http://example.com:443/").unwrap()));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(http:/?/?)?.{0,40}") {
            if let Ok(url) = read(&text) {
                prop_assert_eq!(read(url.as_str()).unwrap().authority(), url.authority());
                let _ = url.check_reach("url", &Reach::public());
            }
        }
    }
}
