//! Forms, query strings and the cookie of the authorization server.

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{OAUTH_PATH, OAuthState};
use crate::page::QueryString;

/// Seconds for which the cookie lives, as long as a request does.
const COOKIE_SECONDS: u32 = 600;

/// Parameters of a request, each of them given at most once.
pub(super) struct FormFields(QueryString);

impl FormFields {
    /// Parses a query string or the body of a form.
    pub(super) fn parse(text: &str) -> Self {
        Self(QueryString::parse(text))
    }

    /// Returns a parameter; an error with its name if it was given more than once.
    pub(super) fn get<'f>(&'f self, name: &'static str) -> Result<Option<&'f str>, &'static str> {
        let mut values = self.0.all(name);
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            (_, Some(_)) => Err(name),
        }
    }

    /// Returns a parameter that was given exactly once.
    pub(super) fn single(&self, name: &'static str) -> Option<&str> {
        self.get(name).ok().flatten()
    }

    /// Returns all values of a parameter.
    pub(super) fn all(&self, name: &str) -> Vec<String> {
        self.0.all(name).map(str::to_owned).collect()
    }
}

/// Appends parameters to an address.
pub(super) fn with_parameters(address: &str, parameters: &[(&str, &str)]) -> String {
    let mut text = address.to_owned();
    let mut separator = if address.contains('?') { '&' } else { '?' };
    for (name, value) in parameters {
        text.push(separator);
        separator = '&';
        text.push_str(&format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)));
    }
    text
}

impl OAuthState {
    /// Returns the name of the cookie. Browsers accept the prefix from TLS alone.
    fn cookie_name(&self) -> &'static str {
        if self.public.is_secure() { "__Secure-memoranda-consent" } else { "memoranda-consent" }
    }

    /// Returns the header that gives a browser the ticket of its authorization.
    pub(super) fn set_cookie(&self, ticket: &str) -> String {
        self.cookie(ticket, COOKIE_SECONDS)
    }

    /// Returns the header that takes the ticket from a browser.
    pub(super) fn remove_cookie(&self) -> String {
        self.cookie("", 0)
    }

    fn cookie(&self, value: &str, seconds: u32) -> String {
        let secure = if self.public.is_secure() { "; Secure" } else { "" };
        format!(
            "{}={value}; Path={OAUTH_PATH}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}",
            self.cookie_name()
        )
    }

    /// Returns the ticket that a browser sent.
    pub(super) fn ticket(&self, headers: &HeaderMap) -> Option<String> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|value| value.split(';')).filter_map(|c| c.split_once('='));
        let found = pairs.find(|(name, _)| name.trim() == self.cookie_name());
        found.map(|(_, value)| value.trim().to_owned()).filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_that_comes_twice_is_an_error() {
        let fields = FormFields::parse("a=1&b=x%20y&b=z&c=&space=p&space=q");
        assert_eq!(fields.get("a"), Ok(Some("1")));
        assert_eq!(fields.get("b"), Err("b"));
        assert_eq!(fields.get("c"), Ok(None));
        assert_eq!(fields.all("space"), ["p", "q"]);
    }

    #[test]
    fn parameters_are_escaped() {
        for (address, expected) in [
            ("https://a.example/cb", "https://a.example/cb?state=a%26b%3D%0D%0A"),
            ("https://a.example/cb?x=1", "https://a.example/cb?x=1&state=a%26b%3D%0D%0A"),
            ("app.example:/cb", "app.example:/cb?state=a%26b%3D%0D%0A"),
        ] {
            assert_eq!(with_parameters(address, &[("state", "a&b=\r\n")]), expected);
        }
    }
}
