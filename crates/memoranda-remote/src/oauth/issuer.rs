//! Issuers by which people sign in: any OpenID Connect issuer, and GitHub.
//!
//! The identity token comes straight from the issuer's own token endpoint over TLS, which proves
//! its origin (OpenID Connect Core 3.1.3.7); so no signature has to be checked here.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use memoranda_store::clock;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Maximum time of a request to an issuer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of an answer of an issuer, in bytes.
const MAX_ANSWER_BYTES: u64 = 256 * 1024;
/// Difference of two clocks that is accepted, in seconds.
const CLOCK_LEEWAY_SECONDS: i64 = 60;

/// Protocol of an issuer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IssuerKind {
    /// OpenID Connect, with discovery.
    OpenId,
    /// GitHub, or a GitHub Enterprise server.
    GitHub,
}

/// An issuer by which people sign in.
#[derive(Clone)]
pub struct Issuer {
    /// Name, on its button.
    pub name: String,
    /// Protocol.
    pub kind: IssuerKind,
    /// Address, without a slash at its end.
    pub address: String,
    /// Identifier of this server at the issuer.
    pub client_id: String,
    /// Secret of this server at the issuer.
    pub client_secret: String,
    /// Domains of e-mail addresses whose people get an account without an invitation.
    pub domains: Vec<String>,
}

/// Values that tie an answer of an issuer to the browser that asked.
#[derive(Clone, Debug)]
pub struct IssuerRound {
    /// State, which comes back with the browser.
    pub state: String,
    /// Nonce, which comes back in the identity token.
    pub nonce: String,
    /// Verifier of the code.
    pub verifier: String,
    /// Address to which the issuer sends the browser back.
    pub callback: String,
}

/// A person, as an issuer confirmed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IssuerIdentity {
    /// Address of the issuer.
    pub issuer: String,
    /// The issuer's lasting name of the person.
    pub subject: String,
    /// E-mail address in lower case, if the issuer has verified it.
    pub email: Option<String>,
}

struct IssuerEndpoints {
    authorization: String,
    token: String,
    /// Address at which an access token is exchanged for claims.
    claims: Option<String>,
}

impl Issuer {
    /// Rejects an issuer that cannot be trusted, with the reason.
    pub fn check(&self) -> Result<(), String> {
        let is_loopback = ["http://127.0.0.1", "http://[::1]", "http://localhost"]
            .iter()
            .filter_map(|prefix| self.address.strip_prefix(prefix))
            .any(|rest| rest.is_empty() || rest.starts_with([':', '/']));
        if !self.address.starts_with("https://") && !is_loopback {
            return Err(format!("the address of {} must begin with https", self.name));
        }
        if self.client_id.is_empty() || self.client_secret.is_empty() {
            return Err(format!("{} needs a client id and a client secret", self.name));
        }
        Ok(())
    }

    /// Returns the address at which the person signs in.
    pub fn sign_in_address(&self, round: &IssuerRound) -> Result<String, String> {
        let endpoints = self.endpoints()?;
        let scope = match self.kind {
            IssuerKind::OpenId => "openid email",
            IssuerKind::GitHub => "read:user user:email",
        };
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(round.verifier.as_bytes()));
        let mut address = endpoints.authorization;
        let mut separator = if address.contains('?') { '&' } else { '?' };
        for (name, value) in [
            ("response_type", "code"),
            ("client_id", self.client_id.as_str()),
            ("redirect_uri", round.callback.as_str()),
            ("scope", scope),
            ("state", round.state.as_str()),
            ("nonce", round.nonce.as_str()),
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "S256"),
        ] {
            address.push(separator);
            separator = '&';
            let value = utf8_percent_encode(value, NON_ALPHANUMERIC);
            address.push_str(&format!("{name}={value}"));
        }
        Ok(address)
    }

    /// Exchanges the code of an answer for the person.
    pub fn identify(&self, round: &IssuerRound, code: &str) -> Result<IssuerIdentity, String> {
        let endpoints = self.endpoints()?;
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", round.callback.as_str()),
            ("client_id", self.client_id.as_str()),
            ("client_secret", self.client_secret.as_str()),
            ("code_verifier", round.verifier.as_str()),
        ];
        let request = agent().post(&endpoints.token).header("accept", "application/json");
        let sent = request.send_form(form);
        let tokens = read_json(sent).map_err(|reason| format!("its token endpoint {reason}"))?;
        let access = tokens["access_token"].as_str();
        match self.kind {
            IssuerKind::OpenId => {
                let claims = id_token_claims(&tokens)?;
                self.check_claims(&claims, &round.nonce)?;
                let subject = text(&claims, "sub").ok_or("its token names nobody")?;
                let mut email = verified_email(&claims);
                if let (None, Some(address), Some(access)) = (&email, &endpoints.claims, access) {
                    let more = read_json(bearer_get(address, access))
                        .map_err(|reason| format!("its userinfo endpoint {reason}"))?;
                    if text(&more, "sub").as_deref() == Some(subject.as_str()) {
                        email = verified_email(&more);
                    }
                }
                Ok(IssuerIdentity { issuer: self.address.clone(), subject, email })
            }
            IssuerKind::GitHub => {
                let access = access.ok_or("it issued no token")?;
                let address = endpoints.claims.ok_or("it has no API")?;
                let user = read_json(bearer_get(&address, access))
                    .map_err(|reason| format!("its API {reason}"))?;
                let subject = user["id"].as_u64().ok_or("its API names nobody")?.to_string();
                let emails = read_json(bearer_get(&format!("{address}/emails"), access))
                    .map_err(|reason| format!("its API {reason}"))?;
                let emails = emails.as_array().map(Vec::as_slice).unwrap_or_default();
                let is_right = |email: &&Value| {
                    email["primary"] == Value::Bool(true) && email["verified"] == Value::Bool(true)
                };
                let email = emails.iter().find(is_right).and_then(|email| text(email, "email"));
                let email = email.map(|email| email.to_lowercase());
                Ok(IssuerIdentity { issuer: self.address.clone(), subject, email })
            }
        }
    }

    fn endpoints(&self) -> Result<IssuerEndpoints, String> {
        let base = &self.address;
        if self.kind == IssuerKind::GitHub {
            let api = if base == "https://github.com" {
                "https://api.github.com".to_owned()
            } else {
                format!("{base}/api/v3")
            };
            return Ok(IssuerEndpoints {
                authorization: format!("{base}/login/oauth/authorize"),
                token: format!("{base}/login/oauth/access_token"),
                claims: Some(format!("{api}/user")),
            });
        }
        let address = format!("{base}/.well-known/openid-configuration");
        let found = read_json(agent().get(&address).call())
            .map_err(|reason| format!("its discovery {reason}"))?;
        if text(&found, "issuer").map(|issuer| issuer.trim_end_matches('/').to_owned())
            != Some(base.clone())
        {
            return Err("its discovery names another issuer".to_owned());
        }
        let endpoint =
            |name: &str| text(&found, name).ok_or_else(|| format!("its discovery names no {name}"));
        Ok(IssuerEndpoints {
            authorization: endpoint("authorization_endpoint")?,
            token: endpoint("token_endpoint")?,
            claims: text(&found, "userinfo_endpoint"),
        })
    }

    /// Rejects an identity token of another issuer, for another server, of another sign-in, or an
    /// old one.
    fn check_claims(&self, claims: &Value, nonce: &str) -> Result<(), String> {
        let issuer = text(claims, "iss").unwrap_or_default();
        if issuer.trim_end_matches('/') != self.address {
            return Err("its token is of another issuer".to_owned());
        }
        let audiences: Vec<&str> = match &claims["aud"] {
            Value::String(one) => vec![one],
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let is_ours = audiences.contains(&self.client_id.as_str())
            && (audiences.len() == 1 || claims["azp"].as_str() == Some(&self.client_id));
        if !is_ours {
            return Err("its token is for another server".to_owned());
        }
        let expires = claims["exp"].as_i64().unwrap_or_default();
        if expires + CLOCK_LEEWAY_SECONDS < clock::now().as_second() {
            return Err("its token has expired".to_owned());
        }
        if claims["nonce"].as_str() != Some(nonce) {
            return Err("its token is of another sign-in".to_owned());
        }
        Ok(())
    }
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .timeout_global(Some(REQUEST_TIMEOUT))
        .http_status_as_error(false)
        .max_redirects(0)
        .user_agent("memoranda")
        .build()
        .into()
}

fn bearer_get(address: &str, token: &str) -> Result<ureq::http::Response<ureq::Body>, ureq::Error> {
    let request = agent().get(address).header("accept", "application/json");
    request.header("authorization", format!("Bearer {token}")).call()
}

/// Reads an answer. The reason of a failure contains no secret.
fn read_json(
    answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
) -> Result<Value, String> {
    let mut response = answer.map_err(|error| {
        tracing::warn!(%error, "an issuer cannot be asked");
        "cannot be reached".to_owned()
    })?;
    let status = response.status().as_u16();
    let body = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec();
    let body = body.map_err(|_| "broke off".to_owned())?;
    let value: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    if status != 200 || value["error"].is_string() {
        let error = value["error"].as_str().unwrap_or_default();
        tracing::warn!(status, error, "an issuer refused a request");
        return Err(format!("answered {status}"));
    }
    Ok(value)
}

fn text(value: &Value, name: &str) -> Option<String> {
    value[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn id_token_claims(tokens: &Value) -> Result<Value, String> {
    let token = tokens["id_token"].as_str().ok_or("it issued no identity token")?;
    let payload = token.split('.').nth(1).ok_or("its token has no claims")?;
    let payload = BASE64_URL_SAFE_NO_PAD.decode(payload.trim_end_matches('='));
    let claims = payload.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    claims.ok_or_else(|| "its token cannot be read".to_owned())
}

/// Returns the e-mail address of claims if the issuer has verified it.
fn verified_email(claims: &Value) -> Option<String> {
    let verified = &claims["email_verified"];
    let is_verified = *verified == Value::Bool(true) || verified.as_str() == Some("true");
    text(claims, "email").filter(|_| is_verified).map(|email| email.to_lowercase())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn issuer(address: &str) -> Issuer {
        Issuer {
            name: "Company".to_owned(),
            kind: IssuerKind::OpenId,
            address: address.to_owned(),
            client_id: "us".to_owned(),
            client_secret: "secret".to_owned(),
            domains: Vec::new(),
        }
    }

    #[test]
    fn an_issuer_has_tls_or_is_on_this_machine() {
        for (address, is_good) in [
            ("https://id.example", true),
            ("http://127.0.0.1:9", true),
            ("http://localhost/realm", true),
            ("http://id.example", false),
            ("http://localhost.evil.example", false),
            ("id.example", false),
        ] {
            assert_eq!(issuer(address).check().is_ok(), is_good, "{address}");
        }
    }

    #[test]
    fn a_token_of_another_issuer_server_or_sign_in_is_refused() {
        let issuer = issuer("https://id.example");
        let later = clock::now().as_second() + 300;
        let good = json!({
            "iss": "https://id.example/", "aud": "us", "exp": later, "nonce": "n", "sub": "1",
        });
        assert_eq!(issuer.check_claims(&good, "n"), Ok(()));
        for (name, value) in [
            ("iss", json!("https://evil.example")),
            ("aud", json!("them")),
            ("aud", json!(["us", "them"])),
            ("aud", json!([])),
            ("exp", json!(later - 3_600)),
            ("exp", json!(null)),
            ("nonce", json!("other")),
            ("nonce", json!(null)),
        ] {
            let mut bad = good.clone();
            bad[name] = value;
            assert!(issuer.check_claims(&bad, "n").is_err(), "{bad}");
        }
    }

    #[test]
    fn only_verified_addresses_count() {
        for (claims, email) in [
            (json!({ "email": "A@x.example", "email_verified": true }), Some("a@x.example")),
            (json!({ "email": "a@x.example", "email_verified": "true" }), Some("a@x.example")),
            (json!({ "email": "a@x.example", "email_verified": false }), None),
            (json!({ "email": "a@x.example" }), None),
        ] {
            assert_eq!(verified_email(&claims).as_deref(), email, "{claims}");
        }
    }
}
