//! Pages of sign-in and consent, in the style of the web page. They contain no script.

use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, SET_COOKIE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use memoranda_remote::directory::{SpaceKind, SpaceRole, TokenAccess};
use memoranda_remote::oauth::{AuthorizationRequest, SpaceChoice};

use super::PAGE_CLIENT;
use super::form::with_parameters;

/// A page with the headers that it needs.
pub(super) struct OAuthPage {
    status: StatusCode,
    title: &'static str,
    body: String,
    /// Address to which a form of the page leads in the end.
    form_target: Option<String>,
    cookie: Option<String>,
    /// Address that the page loads at once.
    reload: Option<String>,
}

impl OAuthPage {
    fn new(title: &'static str, body: String) -> Self {
        let status = StatusCode::OK;
        Self { status, title, body, form_target: None, cookie: None, reload: None }
    }

    pub(super) fn with_cookie(mut self, cookie: String) -> Self {
        self.cookie = Some(cookie);
        self
    }

    pub(super) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }
}

impl IntoResponse for OAuthPage {
    fn into_response(self) -> Response {
        let reload = self.reload.as_deref().map_or(String::new(), |address| {
            format!("<meta http-equiv=\"refresh\" content=\"0;url={}\">", escape(address))
        });
        let html = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n{reload}\
             <title>{title} · Memoranda</title>\n\
             <link rel=\"stylesheet\" href=\"/oauth/page.css\">\n\
             <link rel=\"stylesheet\" href=\"/oauth/consent.css\">\n</head>\n<body>\n\
             <main class=\"consent stack\">\n<p class=\"soft small\">Memoranda</p>\n\
             <h1 class=\"serif\">{title}</h1>\n{body}</main>\n</body>\n</html>\n",
            title = escape(self.title),
            body = self.body,
        );
        // Browsers apply the policy of a form to where its answer redirects, too.
        let target = self.form_target.map(|uri| format!(" {uri}")).unwrap_or_default();
        let policy = format!(
            "default-src 'none'; style-src 'self'; form-action 'self'{target}; base-uri 'none'; \
             frame-ancestors 'none'"
        );
        let mut response = (self.status, html).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        // Without a referrer, browsers would send forms with the origin `null`.
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        headers.extend(HeaderValue::from_str(&policy).ok().map(|p| (CONTENT_SECURITY_POLICY, p)));
        let cookie = self.cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok());
        headers.extend(cookie.map(|cookie| (SET_COOKIE, cookie)));
        response
    }
}

/// The page that asks who the person is.
pub(super) fn sign_in_page(
    request: &AuthorizationRequest,
    number: i64,
    issuers: &[String],
    wrong: Option<&str>,
) -> OAuthPage {
    let mut body = if request.client_id == PAGE_CLIENT {
        "<p>Sign in to see your memory, and that of your teams.</p>\n".to_owned()
    } else {
        format!(
            "<p><strong>{}</strong> asks for access to your memory. {}</p>\n",
            escape(&request.client_name),
            returns_to(&request.redirect_uri)
        )
    };
    for name in issuers {
        let parameters = [("name", name.as_str()), ("request", &number.to_string())];
        body.push_str(&format!(
            "<p><a class=\"button\" href=\"{}\">Sign in with {}</a></p>\n",
            escape(&with_parameters("/oauth/issuer", &parameters)),
            escape(name)
        ));
    }
    if let Some(wrong) = wrong {
        body.push_str(&format!("<p class=\"bad\" role=\"alert\">{}</p>\n", escape(wrong)));
    }
    body.push_str(&format!(
        "<form method=\"post\" action=\"/oauth/sign-in\" class=\"stack\">\n\
         <input type=\"hidden\" name=\"request\" value=\"{number}\">\n\
         <label>Account<input type=\"text\" name=\"account\" autocomplete=\"username\" \
         autocapitalize=\"none\" required></label>\n\
         <label>Password<input type=\"password\" name=\"password\" \
         autocomplete=\"current-password\" required></label>\n\
         <p><button class=\"primary\">Sign in</button></p>\n</form>\n"
    ));
    OAuthPage::new("Sign in", body)
}

/// The page that asks what the program may do.
pub(super) fn consent_page(
    request: &AuthorizationRequest,
    number: i64,
    account: &str,
    spaces: &[SpaceChoice],
) -> OAuthPage {
    let mut body = format!(
        "<p>You are <strong>{}</strong>. <strong>{}</strong> asks for access to your memory. \
         The name is its own claim. {}</p>\n",
        escape(account),
        escape(&request.client_name),
        returns_to(&request.redirect_uri)
    );
    body.push_str(&format!(
        "<form method=\"post\" action=\"/oauth/consent\" class=\"stack\">\n\
         <input type=\"hidden\" name=\"request\" value=\"{number}\">\n\
         <fieldset class=\"stack\"><legend>Spaces that it may use</legend>\n"
    ));
    for space in spaces {
        let note = match (space.kind, space.role) {
            (SpaceKind::Private, _) => "yours alone".to_owned(),
            (SpaceKind::Shared, SpaceRole::Reader) => "shared; you may read".to_owned(),
            (SpaceKind::Shared, role) => format!("shared; you are {role}"),
        };
        let name = escape(&space.name);
        body.push_str(&format!(
            "<label class=\"row\"><input type=\"checkbox\" name=\"space\" value=\"{name}\" checked> \
             <span>{name} <span class=\"soft small\">{note}</span></span></label>\n"
        ));
    }
    body.push_str("</fieldset>\n");
    if spaces.len() > 1 {
        body.push_str("<label>Without a name, it uses <select name=\"default\">\n");
        for space in spaces {
            let name = escape(&space.name);
            body.push_str(&format!("<option value=\"{name}\">{name}</option>\n"));
        }
        body.push_str("</select></label>\n");
    }
    let read = "<label class=\"row\"><input type=\"radio\" name=\"access\" value=\"read\"{checked}> \
                <span>read</span></label>\n";
    body.push_str("<fieldset class=\"stack\"><legend>It may</legend>\n");
    if request.access == TokenAccess::Write {
        body.push_str(
            "<label class=\"row\"><input type=\"radio\" name=\"access\" value=\"write\" checked> \
             <span>read and write, as far as you may</span></label>\n",
        );
        body.push_str(&read.replace("{checked}", ""));
    } else {
        body.push_str(&read.replace("{checked}", " checked"));
    }
    body.push_str(
        "</fieldset>\n<p class=\"row\"><button class=\"primary\" name=\"decision\" value=\"allow\">\
         Allow</button> <button name=\"decision\" value=\"deny\">Do not allow</button></p>\n\
         <p class=\"soft small\">It can use your memory until you or an administrator revoke it. \
         The history names you and this program for everything it writes.</p>\n</form>\n",
    );
    let mut page = OAuthPage::new("Allow access?", body);
    page.form_target = form_target(&request.redirect_uri);
    page
}

/// A page that loads an address of this server at once.
pub(super) fn reload_page(address: &str) -> OAuthPage {
    let link = format!("<p><a href=\"{}\">Go on</a></p>\n", escape(address));
    let mut page = OAuthPage::new("One moment", link);
    page.reload = Some(address.to_owned());
    page
}

/// A page that says what is wrong.
pub(super) fn error_page(status: StatusCode, sentence: &str) -> OAuthPage {
    let body = format!("<p role=\"alert\">{}</p>\n", escape(sentence));
    OAuthPage::new("This does not work", body).with_status(status)
}

/// Says in one sentence where the browser goes after the decision.
fn returns_to(redirect_uri: &str) -> String {
    let (scheme, rest) = redirect_uri.split_once(':').unwrap_or((redirect_uri, ""));
    let host = rest.trim_start_matches('/').split(['/', '?']).next().unwrap_or_default();
    match scheme {
        "https" => format!("Afterwards you return to <strong>{}</strong>.", escape(host)),
        "http" => "Afterwards you return to a program on this computer.".to_owned(),
        _ => format!("Afterwards the program of <strong>{}:</strong> opens.", escape(scheme)),
    }
}

/// Returns what a policy must name so that a form may lead to an address.
fn form_target(redirect_uri: &str) -> Option<String> {
    let (scheme, rest) = redirect_uri.split_once(':')?;
    match scheme {
        "https" | "http" => {
            let host = rest.strip_prefix("//")?.split(['/', '?']).next()?;
            Some(format!("{scheme}://{host}"))
        }
        _ => Some(format!("{scheme}:")),
    }
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_strangers_stay_text() {
        let request = AuthorizationRequest {
            client_id: "x".to_owned(),
            client_name: "<script>alert('x')</script>".to_owned(),
            redirect_uri: "https://a.example/cb".to_owned(),
            challenge: [0; 32],
            access: TokenAccess::Write,
            resource: "https://team.example/mcp".to_owned(),
            state: None,
        };
        let issuer = ["<b>&\"".to_owned()];
        for page in [
            sign_in_page(&request, 1, &issuer, Some("<i>")),
            consent_page(&request, 1, "<u>", &[]),
            error_page(StatusCode::BAD_REQUEST, "<script>"),
            reload_page("/x?a=1&b=\"><script>"),
        ] {
            for tag in ["<script", "<b>", "<i>", "<u>"] {
                assert!(!page.body.contains(tag), "{}", page.body);
            }
        }
    }

    #[test]
    fn a_form_may_lead_to_its_program_alone() {
        for (uri, target) in [
            ("https://a.example/cb?x", Some("https://a.example")),
            ("http://127.0.0.1:9/cb", Some("http://127.0.0.1:9")),
            ("cursor://host/cb", Some("cursor:")),
            ("com.example.app:/cb", Some("com.example.app:")),
        ] {
            assert_eq!(form_target(uri).as_deref(), target);
        }
    }
}
