//! The database, the issuers and the documents of clients as one directory of authorizations.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::{Database, DatabaseResult};
use crate::directory::DirectoryResult;
use crate::oauth::{
    AuthorizationDirectory, AuthorizationRequest, AuthorizationTicket, ClientDocuments,
    ClientRefusal, CodeExchange, Consent, IssuedTokens, Issuer, IssuerAnswer, IssuerRound,
    OAuthClient, PendingAuthorization, RefreshExchange, SignInRefusal, SpaceChoice, TokenRefusal,
    check_redirect_uri,
};

/// Maximum number of addresses of a registered client.
const MAX_REDIRECT_URIS: usize = 20;

/// Sign-in to a team server.
pub struct TeamSignIn {
    database: Database,
    issuers: Vec<Issuer>,
    documents: ClientDocuments,
}

impl TeamSignIn {
    /// Combines the parts.
    pub fn new(database: Database, issuers: Vec<Issuer>, documents: ClientDocuments) -> Self {
        Self { database, issuers, documents }
    }

    fn issuer(&self, name: &str) -> Option<&Issuer> {
        self.issuers.iter().find(|issuer| issuer.name == name)
    }
}

/// Returns the values that tie the answer of an issuer to a ticket. They follow from the ticket, so
/// the database has none of them.
fn round(ticket: &str, callback: &str) -> IssuerRound {
    let derive = |label: &str| {
        BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(format!("memoranda {label} {ticket}")))
    };
    IssuerRound {
        state: derive("state"),
        nonce: derive("nonce"),
        verifier: derive("verifier"),
        callback: callback.to_owned(),
    }
}

impl AuthorizationDirectory for TeamSignIn {
    fn issuer_names(&self) -> Vec<String> {
        self.issuers.iter().map(|issuer| issuer.name.clone()).collect()
    }

    fn find_client(&self, client_id: &str) -> DirectoryResult<Result<OAuthClient, ClientRefusal>> {
        if let Some(known) = self.database.known_client(client_id)? {
            return Ok(Ok(known));
        }
        if !ClientDocuments::is_document_address(client_id) {
            return Ok(Err(ClientRefusal::Unknown));
        }
        match self.documents.fetch(client_id) {
            Ok(client) => {
                self.database.keep_client(&client)?;
                Ok(Ok(client))
            }
            Err(refusal) => Ok(Err(refusal)),
        }
    }

    fn register_client(
        &self,
        name: &str,
        redirect_uris: &[String],
    ) -> DirectoryResult<Result<OAuthClient, ClientRefusal>> {
        if redirect_uris.is_empty() || redirect_uris.len() > MAX_REDIRECT_URIS {
            let reason = format!("redirect_uris needs 1 to {MAX_REDIRECT_URIS} addresses");
            return Ok(Err(ClientRefusal::RedirectUri(reason)));
        }
        for uri in redirect_uris {
            if let Err(reason) = check_redirect_uri(uri) {
                let shown: String = uri.chars().take(200).collect();
                let reason = format!("the redirect_uri {shown:?} is not accepted: {reason}");
                return Ok(Err(ClientRefusal::RedirectUri(reason)));
            }
        }
        Ok(Ok(self.database.add_client(&crate::oauth::shown_name(name), redirect_uris)?))
    }

    fn begin_authorization(
        &self,
        request: &AuthorizationRequest,
    ) -> DirectoryResult<AuthorizationTicket> {
        Ok(self.database.add_request(request)?)
    }

    fn pending_authorization(&self, ticket: &str) -> DirectoryResult<Option<PendingAuthorization>> {
        Ok(self.database.request_of_ticket(ticket)?.map(|(pending, _)| pending))
    }

    fn sign_in_with_password(
        &self,
        ticket: &str,
        account: &str,
        password: &str,
    ) -> DirectoryResult<Result<String, SignInRefusal>> {
        Ok(self.database.sign_in_by_password(ticket, account, password)?)
    }

    fn issuer_address(
        &self,
        ticket: &str,
        issuer: &str,
        callback: &str,
    ) -> DirectoryResult<Result<String, SignInRefusal>> {
        let Some(issuer) = self.issuer(issuer) else {
            return Ok(Err(SignInRefusal::UnknownIssuer));
        };
        if !self.database.set_request_issuer(ticket, &issuer.name)? {
            return Ok(Err(SignInRefusal::Expired));
        }
        let address = issuer.sign_in_address(&round(ticket, callback));
        Ok(address.map_err(|reason| failed(issuer, &reason)))
    }

    fn sign_in_with_issuer(
        &self,
        ticket: &str,
        answer: &IssuerAnswer<'_>,
    ) -> DirectoryResult<Result<String, SignInRefusal>> {
        let pending: DatabaseResult<_> = self.database.request_of_ticket(ticket);
        let Some((_, issuer)) = pending? else { return Ok(Err(SignInRefusal::Expired)) };
        let issuer = issuer.and_then(|name| self.issuer(&name));
        let Some(issuer) = issuer else { return Ok(Err(SignInRefusal::UnknownIssuer)) };
        let round = round(ticket, answer.callback);
        if round.state != answer.state {
            return Ok(Err(failed(issuer, "the answer belongs to another sign-in")));
        }
        let identity = match issuer.identify(&round, answer.code) {
            Ok(identity) => identity,
            Err(reason) => return Ok(Err(failed(issuer, &reason))),
        };
        Ok(self.database.sign_in_by_identity(ticket, &identity, &issuer.domains)?)
    }

    fn spaces_of_ticket(&self, ticket: &str) -> DirectoryResult<Vec<SpaceChoice>> {
        Ok(self.database.spaces_of_request(ticket)?)
    }

    fn approve(
        &self,
        ticket: &str,
        consent: &Consent,
    ) -> DirectoryResult<Option<(String, AuthorizationRequest)>> {
        Ok(self.database.approve_request(ticket, consent)?)
    }

    fn deny(&self, ticket: &str) -> DirectoryResult<Option<AuthorizationRequest>> {
        Ok(self.database.deny_request(ticket)?)
    }

    fn exchange_code(
        &self,
        exchange: &CodeExchange<'_>,
    ) -> DirectoryResult<Result<IssuedTokens, TokenRefusal>> {
        Ok(self.database.redeem_code(exchange)?)
    }

    fn refresh_tokens(
        &self,
        exchange: &RefreshExchange<'_>,
    ) -> DirectoryResult<Result<IssuedTokens, TokenRefusal>> {
        Ok(self.database.redeem_refresh_token(exchange)?)
    }

    fn revoke(&self, token: &str, client_id: &str) -> DirectoryResult<()> {
        Ok(self.database.revoke_grant_of(token, client_id)?)
    }
}

fn failed(issuer: &Issuer, reason: &str) -> SignInRefusal {
    SignInRefusal::IssuerFailed(format!("{}: {reason}", issuer.name))
}
