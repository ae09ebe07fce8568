//! Accounts, spaces, members and tokens: who may do what, until when.

use memoranda_remote::directory::{
    ProposalDecision, ProposedCall, SpaceDirectory as _, SpaceRole, TokenAccess, TokenGrant,
};
use memoranda_remote::postgres::Database;
use memoranda_remote::self_service::NewToken;

use crate::cluster::{shared, skipped};

fn token(account: &str, name: &str, access: TokenAccess, spaces: &[&str]) -> NewToken {
    NewToken {
        account: account.to_owned(),
        name: name.to_owned(),
        access,
        spaces: spaces.iter().map(|&space| space.to_owned()).collect(),
        days: None,
    }
}

/// The spaces of a token with what it may do there.
fn opened(database: &Database, secret: &str) -> Vec<(String, TokenAccess)> {
    let grant = database.authorize(secret).unwrap();
    let spaces = grant.map(|grant: TokenGrant| grant.spaces).unwrap_or_default();
    spaces.into_iter().map(|space| (space.name, space.access)).collect()
}

#[test]
fn a_token_opens_what_its_account_and_its_scope_allow() {
    let Some(cluster) = shared() else { return skipped("a_token_opens") };
    let (database, _) = cluster.new_database();
    for name in ["anna", "ben"] {
        database.create_account("test", name, None).unwrap();
    }
    database.create_space("test", "acme", "anna", None).unwrap();
    database.set_member("test", "acme", "ben", SpaceRole::Reader).unwrap();
    let (read, write) = (TokenAccess::Read, TokenAccess::Write);
    let named = |names: &[(&str, TokenAccess)]| -> Vec<(String, TokenAccess)> {
        names.iter().map(|(name, access)| ((*name).to_owned(), *access)).collect()
    };
    let all = database.create_token("test", &token("anna", "all", write, &[])).unwrap();
    assert!(all.starts_with("mem_pat_"));
    assert_eq!(opened(&database, &all), named(&[("anna", write), ("acme", write)]));
    let team = database.create_token("test", &token("anna", "team", write, &["acme"])).unwrap();
    assert_eq!(opened(&database, &team), named(&[("acme", write)]));
    let look = database.create_token("test", &token("anna", "look", read, &[])).unwrap();
    assert_eq!(opened(&database, &look), named(&[("anna", read), ("acme", read)]));
    let ben = database.create_token("test", &token("ben", "ben", write, &[])).unwrap();
    assert_eq!(opened(&database, &ben), named(&[("ben", write), ("acme", read)]));
    // A change of the role holds at once.
    database.set_member("test", "acme", "ben", SpaceRole::Editor).unwrap();
    assert_eq!(opened(&database, &ben), named(&[("ben", write), ("acme", write)]));
    database.remove_member("test", "acme", "ben").unwrap();
    assert_eq!(opened(&database, &ben), named(&[("ben", write)]));
    database.disable_account("test", "ben").unwrap();
    assert_eq!(opened(&database, &ben), []);
    database.enable_account("test", "ben").unwrap();
    assert_eq!(opened(&database, &ben), named(&[("ben", write)]));
    database.revoke_token("test", "ben", "ben").unwrap();
    assert_eq!(opened(&database, &ben), []);
    for wrong in ["", "mem_pat_", &all[..all.len() - 1], &all.to_lowercase()] {
        assert_eq!(opened(&database, wrong), [], "{wrong}");
    }
}

#[test]
fn expired_tokens_open_nothing_and_uses_are_recorded() {
    let Some(cluster) = shared() else { return skipped("expired_tokens") };
    let (database, name) = cluster.new_database();
    database.create_account("test", "anna", Some("anna@example.org")).unwrap();
    let wanted = NewToken { days: Some(1), ..token("anna", "phone", TokenAccess::Read, &[]) };
    let secret = database.create_token("test", &wanted).unwrap();
    let grant = database.authorize(&secret).unwrap().unwrap();
    assert_eq!((grant.account.as_str(), grant.token.as_str()), ("anna", "phone"));
    assert_eq!(database.tokens(Some("anna")).unwrap()[0].used_at, None);
    database.note_token_use(grant.token_id).unwrap();
    assert!(database.tokens(Some("anna")).unwrap()[0].used_at.is_some());
    cluster.sql(&name, "update memoranda.tokens set expires_at = now() - interval '1 second'");
    assert!(database.authorize(&secret).unwrap().is_none());
    // The secret itself is nowhere in the database.
    let dump = "select string_agg(t::text, ' ') from memoranda.tokens t";
    assert!(!cluster.sql(&name, dump).contains(&secret[12..]));
}

#[test]
fn changes_that_cannot_be_are_refused_and_the_rest_is_audited() {
    let Some(cluster) = shared() else { return skipped("changes_that_cannot_be") };
    let (database, _) = cluster.new_database();
    database.create_account("test", "anna", None).unwrap();
    database.create_account("test", "ben", None).unwrap();
    database.create_space("test", "acme", "anna", None).unwrap();
    let refused = |outcome: Result<(), memoranda_remote::postgres::DatabaseError>, words: &str| {
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains(words), "{error:?} should say {words:?}");
    };
    refused(database.create_account("test", "anna", None), "already");
    refused(database.create_account("test", "acme", None), "there is a space acme already");
    refused(database.create_account("test", "No Name", None), "cannot be a name");
    refused(database.create_space("test", "anna", "ben", None), "already");
    refused(database.create_space("test", "other", "nobody", None), "no account nobody");
    refused(database.set_member("test", "anna", "ben", SpaceRole::Reader), "private space");
    refused(database.set_member("test", "nowhere", "ben", SpaceRole::Reader), "no space nowhere");
    refused(database.set_member("test", "acme", "anna", SpaceRole::Reader), "no owner");
    refused(database.remove_member("test", "acme", "anna"), "no owner");
    refused(database.remove_member("test", "acme", "ben"), "no member");
    refused(database.revoke_token("test", "anna", "none"), "no token");
    let foreign = token("ben", "x", TokenAccess::Read, &["acme"]);
    refused(database.create_token("test", &foreign).map(drop), "no member of acme");
    let made = token("ben", "x", TokenAccess::Read, &[]);
    database.create_token("test", &made).unwrap();
    refused(database.create_token("test", &made).map(drop), "already");
    let actions: Vec<String> =
        database.audit(100).unwrap().into_iter().map(|entry| entry.action).collect();
    assert_eq!(actions, ["token add", "space add", "account add", "account add"]);
    let stats = database.stats().unwrap();
    assert_eq!((stats.accounts, stats.spaces, stats.tokens, stats.commits), (2, 3, 1, 0));
}

fn proposed(account: &str, arguments: &str) -> ProposedCall {
    ProposedCall {
        account: account.to_owned(),
        token: "x".to_owned(),
        client: "test".to_owned(),
        tool: "write_note".to_owned(),
        arguments: arguments.to_owned(),
        repository: None,
    }
}

#[test]
fn proposals_that_wait_are_limited_by_number_and_size() {
    let Some(cluster) = shared() else { return skipped("proposals_that_wait") };
    let (database, name) = cluster.new_database();
    database.create_account("test", "anna", None).unwrap();
    database.create_space("test", "acme", "anna", None).unwrap();
    let space = database.spaces().unwrap().into_iter().find(|space| space.name == "acme");
    let space = space.unwrap().id;
    let add = |account: &str, arguments: &str| {
        database.add_proposal(space, &proposed(account, arguments)).map_err(|e| e.to_string())
    };
    let large = "x".repeat(9 << 20);
    let first = add("ben", &large).unwrap();
    let refused = add("ben", &large).unwrap_err();
    assert!(refused.contains("16 MB") && refused.contains("decide"), "{refused}");
    add("carla", &large).unwrap();
    for _ in 1..100 {
        add("ben", "{}").unwrap();
    }
    let refused = add("ben", "{}").unwrap_err();
    assert!(refused.contains("100 proposals of ben"), "{refused}");
    // A decision makes room.
    database.claim_proposal(space, first, "anna").unwrap().unwrap();
    database.settle_proposal(space, first, "anna", ProposalDecision::Rejected).unwrap();
    add("ben", "{}").unwrap();
    let fill = "insert into memoranda.proposals (space, account, token, client, tool, arguments) \
                select s.space, 'dora', '', '', '', '' from memoranda.spaces s, \
                generate_series(1, 899) where s.name = 'acme'";
    cluster.sql(&name, fill);
    assert!(add("eve", "{}").unwrap_err().contains("1000 of everybody"));
}

#[test]
fn a_proposal_is_decided_once() {
    let Some(cluster) = shared() else { return skipped("a_proposal_is_decided") };
    let (database, name) = cluster.new_database();
    database.create_account("test", "anna", None).unwrap();
    database.create_account("test", "ben", None).unwrap();
    database.create_space("test", "acme", "anna", None).unwrap();
    database.set_member("test", "acme", "ben", SpaceRole::Proposer).unwrap();
    let secret =
        database.create_token("test", &token("ben", "x", TokenAccess::Write, &["acme"])).unwrap();
    assert_eq!(opened(&database, &secret), [("acme".to_owned(), TokenAccess::Propose)]);
    let space = database.authorize(&secret).unwrap().unwrap().spaces[0].id;
    let call = proposed("ben", "{}");
    let first = database.add_proposal(space, &call).unwrap();
    assert_eq!(database.waiting_proposals(space).unwrap()[0].call, call);
    assert_eq!(database.waiting_proposals(space + 1).unwrap(), []);
    assert_eq!(database.claim_proposal(space + 1, first, "anna").unwrap(), None);
    let claimed = database.claim_proposal(space, first, "anna").unwrap().unwrap();
    assert_eq!(claimed.call, call);
    // Nobody else decides on it meanwhile, unless its server is gone.
    assert_eq!(database.claim_proposal(space, first, "carla").unwrap(), None);
    let settle = |decision| database.settle_proposal(space, first, "anna", decision).unwrap();
    settle(ProposalDecision::Returned);
    assert!(database.claim_proposal(space, first, "anna").unwrap().is_some());
    cluster.sql(&name, "update memoranda.proposals set decided_at = now() - interval '2 minutes'");
    assert!(database.claim_proposal(space, first, "anna").unwrap().is_some());
    settle(ProposalDecision::Approved);
    assert_eq!(database.waiting_proposals(space).unwrap(), []);
    assert_eq!(database.claim_proposal(space, first, "anna").unwrap(), None);
}
