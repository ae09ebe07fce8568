//! `memoranda remember`, `recall` and `forget`.

use super::support::Home;

#[test]
fn what_is_remembered_is_recalled_and_forgotten() {
    let home = Home::new();
    let said = home.ok(&["remember", "I", "prefer", "tabs"]);
    assert!(
        said.contains("preference of the person, everywhere (kind and scope guessed)"),
        "{said}"
    );
    let again = home.json(&["remember", "I prefer tabs."]);
    assert_eq!((&again["effect"], &again["kind"]), (&"known".into(), &"preference".into()));
    let id = again["id"].as_str().unwrap();
    let told = home.ok(&["recall", "tabs or blanks"]);
    assert!(told.contains("I prefer tabs") && told.contains(id), "{told}");
    assert!(home.ok(&["recall"]).contains("## The Person"));
    let found = home.json(&["recall", "tabs", "--kind", "preference"]);
    assert_eq!(found["count"], 1, "{found}");
    let listed = home.ok(&["forget", "what about blanks and tabs"]);
    assert!(listed.contains(&format!("memoranda forget --id {id}")), "{listed}");
    let forgotten = home.json(&["forget", "--id", id]);
    assert_eq!(forgotten["forgotten"], true, "{forgotten}");
    assert_eq!(home.run(&["recall", "tabs"]).code, 1);
    home.ok(&["undo", "--yes"]);
    assert!(home.ok(&["recall", "tabs"]).contains("I prefer tabs"));
}

#[test]
fn mistakes_have_their_exit_codes() {
    let home = Home::new();
    let kind = home.run(&["remember", "x y", "--kind", "rumour"]);
    assert_eq!(kind.code, 2, "{kind:?}");
    assert!(kind.err.contains("rule, decision, preference"), "{kind:?}");
    let first = home.json(&["remember", "I live in Lisbon"]);
    let stale = format!("{}@00000000", first["id"].as_str().unwrap());
    let conflict = home.run(&["remember", "I live in Porto", "--replaces", &stale]);
    assert_eq!(conflict.code, 4, "{conflict:?}");
    let refused = home.run(&["remember", "this repo uses pnpm"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(
        refused.err.contains("--repository") && refused.err.contains("--scope person"),
        "{refused:?}"
    );
    // A word of software alone is no repository: people speak of their work everywhere.
    let kept = home.run(&["remember", "deploys go out on Tuesdays"]);
    assert_eq!(kept.code, 0, "{kept:?}");
    assert!(kept.out.contains("of the person, everywhere"), "{kept:?}");
    assert!(kept.err.contains("No repository is known here"), "{kept:?}");
    assert!(kept.err.contains("`memoranda forget --id "), "{kept:?}");
    home.fails(&["remember", " "], 2, &["there is nothing to remember", "`memoranda remember I "]);
    assert_eq!(home.run(&["forget"]).code, 2);
    assert_eq!(home.run(&["forget", "--id", "nosuchid"]).code, 1);
}
