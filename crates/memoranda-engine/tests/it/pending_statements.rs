//! Statements of commits that are not indexed yet are compared like all others.

use memoranda_engine::forget::{ForgetOutcome, ForgetRequest, ForgetTarget, forget};
use memoranda_engine::records::{RecordScope, VisibleScopes};
use memoranda_engine::remember::{RememberEffect, RememberRequest, RememberedStatement, remember};

use crate::memory::{Vault, who};

fn served() -> Vault {
    let vault = Vault::new();
    vault.memory.sync(&mut |_| {}).unwrap();
    vault.memory.start_background().unwrap();
    vault
}

fn say(vault: &Vault, content: &str) -> RememberedStatement {
    let request = RememberRequest {
        content: content.to_owned(),
        scope: Some(memoranda_core::statement::StatementScope::Person),
        ..RememberRequest::default()
    };
    remember(&vault.memory, &who(), &request).unwrap()
}

#[test]
fn a_statement_is_known_before_it_is_indexed() {
    let vault = served();
    for round in 0..40 {
        let statement = format!("The gate {round} of the zoo opens with a green key");
        let stored = say(&vault, &statement);
        assert_eq!(stored.effect, RememberEffect::Stored, "{statement}");
        // Others are written in between, and have nothing in common with it.
        say(&vault, &format!("Aunt number {round} sings louder than thunder on Sundays"));
        let again = say(&vault, &statement.to_uppercase());
        assert_eq!((again.effect, again.id), (RememberEffect::Known, stored.id), "{statement}");
    }
}

#[test]
fn another_value_replaces_a_statement_before_it_is_indexed() {
    let vault = served();
    for (old, new) in [
        ("The API rate limit is 100", "The API rate limit is 200"),
        ("Auth tokens expire after 15 minutes", "Auth tokens expire after 30 minutes"),
        ("My favourite editor is helix", "My favourite editor is zed"),
        ("The shop listens on port 80", "The shop listens on port 81"),
    ] {
        let first = say(&vault, old);
        say(&vault, &format!("Nobody but {} sings louder than thunder", old.len()));
        let second = say(&vault, new);
        assert!(matches!(second.effect, RememberEffect::Replaced { .. }), "{old}: {second:?}");
        assert_eq!(first.id, second.id, "{old}");
    }
}

#[test]
fn forgetting_names_the_other_places_before_they_are_indexed() {
    let vault = served();
    for round in 0..20 {
        let statement = format!("Door {round} of the barn squeaks in the rain");
        let stored = say(&vault, &statement);
        let twin = format!("notes/barn-{round}.md");
        vault.put(&twin, &format!("# Barn {round}\n\n- [fact] {statement}\n"));
        let request = ForgetRequest {
            target: ForgetTarget::Id(stored.id.clone()),
            only: None,
            visible: VisibleScopes::only(RecordScope::Global),
        };
        match forget(&vault.memory, &who(), &request).unwrap() {
            ForgetOutcome::Forgotten(gone) => {
                let told: Vec<_> =
                    gone.still_told.iter().map(|place| place.path.as_str()).collect();
                assert_eq!(told, [twin.as_str()], "{statement}");
            }
            ForgetOutcome::Listed(found) => panic!("{found:?}"),
        }
        // What is forgotten is not named again by the next one.
        let other = say(&vault, &statement);
        assert_eq!(other.effect, RememberEffect::Stored, "{statement}");
    }
}
