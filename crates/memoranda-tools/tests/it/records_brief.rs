//! The brief at the start of a session, and the verbs that importers use.

use memoranda_core::change::{Author, ChangeChannel};
use memoranda_engine::records::{NewRecord, RecordKind, RecordScope, active_rules, add_records};
use memoranda_tools::{
    BriefQuestion, BriefRequest, BriefVisit, NearestInBrief, RecordSettings, Wording,
    question_brief, session_brief,
};

use crate::core_support::{remembered, vault_in_repository};
use crate::support::TestVault;

fn asked(text: &str) -> BriefQuestion<'_> {
    BriefQuestion { text, is_relevant: &|_, _| true, without_relevant: NearestInBrief::LeftOut }
}

#[test]
fn a_question_without_a_relevant_memory_names_the_nearest_one() {
    let vault = vault_in_repository();
    for statement in ["I prefer tabs", "My sister lives in Porto", "The boiler is serviced in May"]
    {
        remembered(&vault, statement);
    }
    let request =
        BriefRequest { folder: None, client: None, visit: BriefVisit::Peek, max_chars: 2_000 };
    let brief = |text: &str, without_relevant| {
        // Nothing that is found fits, as if every match were by chance.
        let asked = BriefQuestion { text, is_relevant: &|_, _| false, without_relevant };
        question_brief(&vault.memory, &vault.settings, &request, &asked).unwrap()
    };
    let question = "when does somebody look after the heating";
    let text = brief(question, NearestInBrief::Named);
    assert!(text.contains("it may not be about this:\nThe boiler is serviced in May ("), "{text}");
    assert!(text.contains("> The boiler is serviced in May"), "{text}");
    assert!(!text.contains("tabs") && !text.contains("Porto"), "{text}");
    assert_eq!(brief(question, NearestInBrief::LeftOut), "");
    assert_eq!(brief("zxqv wvut", NearestInBrief::Named), "", "noise is left out");
}

#[test]
fn a_session_starts_with_rules_what_is_due_and_what_is_known() {
    let vault = TestVault::new(Wording::Mcp);
    let repository = tempfile::tempdir().unwrap();
    let git = repository.path().join(".git");
    std::fs::create_dir_all(&git).unwrap();
    std::fs::write(git.join("HEAD"), "ref: refs/heads/fix-login\n").unwrap();
    std::fs::write(git.join("config"), "[remote \"origin\"]\n\turl = git@x.org:acme/shop.git\n")
        .unwrap();
    let settings = &vault.settings;
    let client = Some("Claude Code");
    let request = BriefRequest {
        folder: Some(repository.path()),
        client,
        visit: BriefVisit::Record,
        max_chars: 10_000,
    };
    assert_eq!(session_brief(&vault.memory, settings, &request).unwrap(), None, "nothing to tell");

    let who = Author::new("test 1", "import", ChangeChannel::Cli);
    let shop = RecordScope::of_workspace(repository.path()).unwrap();
    let other = RecordScope::project("x.org/acme/other").unwrap();
    let record = |kind, scope: &RecordScope, text: &str| NewRecord::new(kind, scope.clone(), text);
    let mut dated = record(RecordKind::Decision, &shop, "Login goes by passkeys");
    dated.created = Some("2025-05-06T07:08:09Z".parse().unwrap());
    let records = [
        record(RecordKind::Rule, &RecordScope::Global, "Write plainly"),
        record(RecordKind::Rule, &shop, "Use pnpm"),
        record(RecordKind::Rule, &other, "Not here"),
        dated,
        record(RecordKind::Fact, &shop, "Staging is at stage.example"),
        record(RecordKind::Fact, &other, "Login elsewhere"),
    ];
    let (added, commit) = add_records(&vault.memory, &who, &records, Some("import")).unwrap();
    assert_eq!(added.len(), records.len());
    assert_eq!(commit.unwrap().files.len(), records.len(), "one commit");
    let names = |scope| -> Vec<String> {
        let rules = active_rules(&vault.memory, scope, &RecordSettings::standard().now()).unwrap();
        rules.into_iter().map(|rule| rule.content).collect()
    };
    assert_eq!(names(&shop), ["Use pnpm"]);
    assert_eq!(names(&RecordScope::Global), ["Write plainly"]);

    let look = BriefRequest { visit: BriefVisit::Peek, ..request.clone() };
    let looked = session_brief(&vault.memory, settings, &look).unwrap().unwrap();
    let text = session_brief(&vault.memory, settings, &request).unwrap().unwrap();
    assert_eq!(looked, text, "a look is not a visit");
    let decision = &added[3].id;
    let fact = &added[4].id;
    let (text, changes) = text.split_once("\n\n## Changed Since Your Last Visit (").unwrap();
    assert!(changes.contains("by test 1"), "{changes}");
    let expected = format!(
        "Known from memory (about x.org/acme/shop, branch fix-login, and global):\n\n\
         Rules that are stored in this memory:\n\
         ## Project Rules\n- Use pnpm\n\n## Global Rules\n- Write plainly\n\
         [written by the person, by command]\n\n\
         ## This Repository\n\
         - Staging is at stage.example (fact, id {fact}, written by the person, by command)\n\
         - Login goes by passkeys (decision, id {decision}, written by the person, by command)"
    );
    assert_eq!(text, expected);
    let about = question_brief(&vault.memory, settings, &request, &asked("login")).unwrap();
    let place = "records/projects/x.org-acme-shop/decision";
    let passkeys = format!(
        "Login goes by passkeys ({place}/{decision}.md) (written by the person, by command):\n\
         > Login goes by passkeys\n"
    );
    assert!(about.starts_with(&passkeys), "{about}");
    assert!(about.contains("> Login elsewhere"), "other repositories come behind: {about}");
    let again = session_brief(&vault.memory, settings, &request).unwrap().unwrap();
    assert!(!again.contains("by test 1"), "told once: {again}");
    let nowhere =
        BriefRequest { folder: None, client: None, visit: BriefVisit::Record, max_chars: 10_000 };
    let text = session_brief(&vault.memory, settings, &nowhere).unwrap().unwrap();
    assert!(text.contains("Write plainly") && !text.contains("pnpm"), "{text}");

    let many: Vec<_> = (0..400)
        .map(|n| record(RecordKind::Rule, &shop, &format!("Rule {n}: é long enough to fill")))
        .collect();
    add_records(&vault.memory, &who, &many, None).unwrap();
    for max_chars in [200, 2_000, 10_000] {
        let request = BriefRequest { max_chars, ..request.clone() };
        let text = session_brief(&vault.memory, settings, &request);
        let text = text.unwrap().unwrap();
        assert!(text.chars().count() <= max_chars, "{max_chars}");
        let is_said = text.contains("more rules: get_rules") || text.contains("[cut; get_context");
        assert!(is_said, "{text}");
    }
}
