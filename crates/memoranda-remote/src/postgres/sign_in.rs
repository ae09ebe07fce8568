//! Sign-in of people: which account is behind an identity that an issuer confirmed.

use postgres::Transaction;

use super::accounts::new_device;
use super::invitations::{accept_invitations, is_invited};
use super::oauth_requests::sign_in_request;
use super::spaces::{insert_member, insert_space};
use super::stats::record_audit;
use super::{Database, DatabaseResult};
use crate::directory::{SpaceKind, SpaceRole};
use crate::oauth::{IssuerIdentity, SignInRefusal};

impl Database {
    /// Signs in with a password. Returns the ticket that replaces the given one.
    pub(super) fn sign_in_by_password(
        &self,
        ticket: &str,
        account: &str,
        password: &str,
    ) -> DatabaseResult<Result<String, SignInRefusal>> {
        let Some(number) = self.check_password(account, password)? else {
            let shown: String = account.chars().filter(|c| !c.is_control()).take(80).collect();
            self.transact(|transaction| {
                record_audit(transaction, &shown, "sign-in refused", "password")
            })?;
            return Ok(Err(SignInRefusal::WrongPassword));
        };
        self.transact(|transaction| {
            let name = account_name(transaction, number)?;
            finish(transaction, ticket, number, &name, "password")
        })
    }

    /// Signs in with an identity that an issuer confirmed. Returns the ticket that replaces the
    /// given one.
    pub(super) fn sign_in_by_identity(
        &self,
        ticket: &str,
        identity: &IssuerIdentity,
        domains: &[String],
    ) -> DatabaseResult<Result<String, SignInRefusal>> {
        let device = new_device();
        self.transact(|transaction| {
            let account = match known_account(transaction, identity)? {
                Some(account) => account,
                None => match &identity.email {
                    Some(email) if may_join(transaction, email, domains)? => {
                        let account = add_account(transaction, email, &device)?;
                        link(transaction, identity, account)?;
                        account
                    }
                    email => {
                        let shown = email.as_deref().unwrap_or("without a verified e-mail address");
                        record_audit(transaction, shown, "sign-in refused", &identity.issuer)?;
                        return Ok(Err(SignInRefusal::NotInvited(shown.to_owned())));
                    }
                },
            };
            let disabled = "select disabled_at is not null from memoranda.accounts \
                            where account = $1";
            let name = account_name(transaction, account)?;
            if transaction.query_one(disabled, &[&account])?.get(0) {
                record_audit(transaction, &name, "sign-in refused", "disabled")?;
                return Ok(Err(SignInRefusal::Disabled));
            }
            if let Some(email) = &identity.email {
                accept_invitations(transaction, account, &name, email)?;
            }
            let used = "update memoranda.identities set used_at = now(), email = $3 \
                        where issuer = $1 and subject = $2";
            transaction.execute(used, &[&identity.issuer, &identity.subject, &identity.email])?;
            finish(transaction, ticket, account, &name, &identity.issuer)
        })
    }
}

/// Returns the account of an identity: the one that used it before, or the one whose address it is.
fn known_account(
    transaction: &mut Transaction<'_>,
    identity: &IssuerIdentity,
) -> DatabaseResult<Option<i64>> {
    let by_subject = "select account from memoranda.identities where issuer = $1 and subject = $2";
    let row = transaction.query_opt(by_subject, &[&identity.issuer, &identity.subject])?;
    if let Some(row) = row {
        return Ok(Some(row.get(0)));
    }
    let Some(email) = &identity.email else { return Ok(None) };
    let by_email = "select account from memoranda.accounts where lower(email) = $1 limit 2";
    // An address that two accounts have identifies neither.
    let rows = transaction.query(by_email, &[email])?;
    let [row] = rows.as_slice() else { return Ok(None) };
    let account: i64 = row.get(0);
    link(transaction, identity, account)?;
    Ok(Some(account))
}

fn link(
    transaction: &mut Transaction<'_>,
    identity: &IssuerIdentity,
    account: i64,
) -> DatabaseResult<()> {
    let insert = "insert into memoranda.identities (issuer, subject, account, email) \
                  values ($1, $2, $3, $4)";
    let IssuerIdentity { issuer, subject, email } = identity;
    transaction.execute(insert, &[issuer, subject, &account, email])?;
    Ok(())
}

/// Returns true if the person of an address may have an account.
fn may_join(
    transaction: &mut Transaction<'_>,
    email: &str,
    domains: &[String],
) -> DatabaseResult<bool> {
    let domain = email.rsplit_once('@').map(|(_, domain)| domain);
    let is_of_domain =
        domain.is_some_and(|domain| domains.iter().any(|known| known.eq_ignore_ascii_case(domain)));
    Ok(is_of_domain || is_invited(transaction, email)?)
}

/// Creates an account with its private space. Its name comes from the address.
fn add_account(
    transaction: &mut Transaction<'_>,
    email: &str,
    device: &str,
) -> DatabaseResult<i64> {
    let person = name_of(email);
    let taken = "select name from memoranda.accounts where starts_with(name, $1) \
                 union select name from memoranda.spaces where starts_with(name, $1)";
    let rows = transaction.query(taken, &[&person])?;
    let taken: std::collections::HashSet<String> = rows.iter().map(|row| row.get(0)).collect();
    let numbered = (2u32..).map(|number| format!("{person}-{number}"));
    let mut names = std::iter::once(person.clone()).chain(numbered);
    let name = names.find(|name| !taken.contains(name)).unwrap_or_default();
    let insert = "insert into memoranda.accounts (name, email) values ($1, $2) returning account";
    let account: i64 = transaction.query_one(insert, &[&name, &email])?.get(0);
    let space = insert_space(transaction, &name, SpaceKind::Private, device)?;
    insert_member(transaction, space, account, SpaceRole::Owner)?;
    record_audit(transaction, &name, "account add", &format!("{name}: {email}"))?;
    Ok(account)
}

/// Returns a name of accounts for an address.
fn name_of(email: &str) -> String {
    let person = email.split('@').next().unwrap_or_default().to_lowercase();
    let letters = |c: char| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' };
    let name: String = person.chars().map(letters).take(30).collect();
    let words: Vec<&str> = name.split('-').filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "member".to_owned() } else { words.join("-") }
}

fn account_name(transaction: &mut Transaction<'_>, account: i64) -> DatabaseResult<String> {
    let select = "select name from memoranda.accounts where account = $1";
    Ok(transaction.query_one(select, &[&account])?.get(0))
}

fn finish(
    transaction: &mut Transaction<'_>,
    ticket: &str,
    account: i64,
    name: &str,
    how: &str,
) -> DatabaseResult<Result<String, SignInRefusal>> {
    match sign_in_request(transaction, ticket, account)? {
        Some(renewed) => {
            record_audit(transaction, name, "sign-in", how)?;
            Ok(Ok(renewed))
        }
        None => Ok(Err(SignInRefusal::Expired)),
    }
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn a_name_comes_from_the_address() {
        for (email, name) in [
            ("anna@example.org", "anna"),
            ("Anna.Smith+x@example.org", "anna-smith-x"),
            ("-@example.org", "member"),
            ("äöü@example.org", "member"),
            ("@", "member"),
        ] {
            assert_eq!(name_of(email), name, "{email}");
        }
    }
}
