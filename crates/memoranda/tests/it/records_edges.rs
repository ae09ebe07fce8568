//! Records where people and other programs had a hand in: names that are used twice, files that
//! were written elsewhere, calls as other clients make them.

use serde_json::json;

use super::records::{SHOP, add, call, done, home, records, refused};

#[test]
fn a_name_that_is_used_twice_is_told_apart_by_its_path() {
    let home = home();
    home.write("records/global/rule/dup.md", "One\n");
    home.write("records/global/fact/dup.md", "Two\n");
    let mut client = records(&home);
    refused(
        &mut client,
        "edit_memory",
        json!({ "id": "dup", "content": "x" }),
        "global/rule/dup.md",
    );
    for (id, content) in [
        ("global/rule/dup", "Three"),
        ("global/rule/dup.md", "Four"),
        ("records/global/rule/dup.md", "Five"),
    ] {
        let (_, changed) =
            done(&mut client, "edit_memory", json!({ "id": id, "content": content }));
        assert_eq!(
            (&changed["content"], &changed["type"]),
            (&content.into(), &"rule".into()),
            "{id}"
        );
    }
    // A kind that is taken is said, and said for good.
    let taken = json!({ "id": "global/rule/dup", "type": "fact" });
    refused(&mut client, "edit_memory", taken, "another memory is there");
    refused(
        &mut client,
        "forget_memory",
        json!({ "id": "nobody" }),
        "Memory nobody not found or already forgotten.",
    );
    for id in ["dup", "global/rule/dup", "global/rule/dup.md"] {
        done(&mut client, "forget_memory", json!({ "id": "global/rule/dup.md" }));
        let (_, back) = done(&mut client, "restore_memory", json!({ "id": id }));
        assert_eq!((&back["type"], &back["content"]), (&"rule".into(), &"Five".into()), "{id}");
    }
    let (text, _) = done(&mut client, "search_memories", json!({ "query": "global/fact/dup.md" }));
    assert!(text.contains("Two"), "{text}");
}

#[test]
fn a_commit_brings_back_what_is_still_missing() {
    let home = home();
    let mut client = records(&home);
    let ids: Vec<String> =
        ["a", "b", "c"].map(|text| add(&mut client, json!({ "content": text }))).into();
    let (_, gone) = done(&mut client, "bulk_forget_memories", json!({ "types": ["note"] }));
    let commit = json!({ "commit": gone["commit"] });
    done(&mut client, "restore_memory", json!({ "id": ids[1] }));
    let (text, back) = done(&mut client, "restore_memory", commit.clone());
    assert!(
        text.starts_with("Restored 2 memories:") && text.contains("1 of that commit"),
        "{text}"
    );
    assert_eq!(back["count"], 2);
    assert_eq!(done(&mut client, "list_memories", json!({})).1["count"], 3);
    refused(&mut client, "restore_memory", commit, "is there already");
    refused(
        &mut client,
        "restore_memory",
        json!({ "commit": "zzzzzz" }),
        "There is no commit \"zzzzzz\"",
    );
}

#[test]
fn what_took_another_s_place_and_went_gives_it_back() {
    let home = home();
    let mut client = records(&home);
    let old = add(&mut client, json!({ "content": "Tabs", "type": "rule" }));
    let new = add(&mut client, json!({ "content": "Blanks", "type": "rule", "supersedes": [old] }));
    let rules = |client: &mut _| done(client, "get_rules", json!({})).0;
    assert!(!rules(&mut client).contains("Tabs"));
    done(&mut client, "forget_memory", json!({ "id": new }));
    assert!(rules(&mut client).contains("Tabs"));
    done(&mut client, "restore_memory", json!({ "id": new }));
    assert!(!rules(&mut client).contains("Tabs"));
}

#[test]
fn the_age_of_a_memory_is_its_own_not_its_file_s() {
    let home = home();
    let old = "---\ncreated: 2020-01-01T00:00:00Z\nmodified: 2020-02-02T00:00:00Z\n---\n\nOld\n";
    home.write("records/global/note/old.md", old);
    let mut client = records(&home);
    add(&mut client, json!({ "content": "New" }));
    let (_, listed) = done(&mut client, "list_memories", json!({}));
    assert_eq!(listed["memories"][1]["updated"], "2020-02-02T00:00:00Z");
    let aged = json!({ "older_than_days": 30, "dry_run": true });
    let (text, found) = done(&mut client, "bulk_forget_memories", aged);
    assert_eq!(found["count"], 1, "{text}");
    assert_eq!(found["memories"][0]["id"], "old");
    // A change tells its time where the file tells one.
    let (_, edited) = done(&mut client, "edit_memory", json!({ "id": "old", "content": "Newer" }));
    assert_ne!(edited["updated"], "2020-02-02T00:00:00Z");
    assert!(!String::from_utf8(home.read("records/global/note/old.md")).unwrap().contains("02-02"));
}

#[test]
fn line_endings_stay_as_they_were() {
    let home = home();
    home.write("records/global/note/crlf.md", "---\r\ntype: note\r\n---\r\n\r\nOne\r\n");
    let mut client = records(&home);
    done(
        &mut client,
        "edit_memory",
        json!({ "id": "crlf", "content": "Two\nlines", "tags": ["x"] }),
    );
    let text = String::from_utf8(home.read("records/global/note/crlf.md")).unwrap();
    assert!(text.ends_with("\r\n\r\nTwo\r\nlines\r\n"), "{text:?}");
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
}

#[test]
fn opposites_are_shown_and_not_merged() {
    let home = home();
    let mut client = records(&home);
    add(&mut client, json!({ "content": "Use pnpm, not npm", "type": "rule" }));
    add(&mut client, json!({ "content": "Use npm, not pnpm", "type": "rule" }));
    add(&mut client, json!({ "content": "use npm, not pnpm.", "type": "rule" }));
    let (text, merged) = done(&mut client, "consolidate_memories", json!({}));
    assert!(text.contains("CONFLICT, left as it is"), "{text}");
    assert_eq!((&merged["superseded"], &merged["conflicts"]), (&1.into(), &1.into()), "{text}");
    assert_eq!(merged["disputed"].as_array().unwrap().len(), 1);
    let (text, _, _) = call(&mut client, "get_rules", json!({}));
    assert!(
        text.contains("Use pnpm, not npm") && text.to_lowercase().contains("use npm, not pnpm")
    );
}

#[test]
fn nothing_vanishes_where_its_replacement_is_not_seen() {
    let home = home();
    // Files that say so all the same, as older ones do.
    let rule = "records/projects/github.com-acme-shop/rule";
    home.write(&format!("{rule}/here.md"), "Only for the shop\n");
    home.write("records/global/rule/all.md", "All of it\n");
    for (id, by) in [("one", "here"), ("two", "all")] {
        let text = format!("---\nsuperseded_by: {by}\n---\n\nRule {id}\n");
        home.write(&format!("records/global/rule/{id}.md"), text);
    }
    let mut client = records(&home);
    let shop = |content: &str| json!({ "content": content, "type": "rule", "project_id": SHOP });
    let all = add(&mut client, json!({ "content": "For all", "type": "rule", "global": true }));
    let own = add(&mut client, shop("For the shop"));
    for (project, old) in [(SHOP, &all), ("h/o/other", &own)] {
        let new = json!({ "content": "x", "project_id": project, "supersedes": [old] });
        refused(&mut client, "add_memory", new, "it would vanish where the new one");
    }
    let new = json!({ "content": "Wider", "type": "rule", "global": true, "supersedes": [own] });
    add(&mut client, new);
    for project in [SHOP, "h/o/other"] {
        let (text, _) = done(&mut client, "get_rules", json!({ "project_id": project }));
        let rules = ["For all", "Wider", "Rule one"];
        assert!(rules.iter().all(|rule| text.contains(rule)), "{text}");
        assert!(!text.contains("For the shop") && !text.contains("Rule two"), "{text}");
    }
}

#[test]
fn many_rules_come_in_pages_for_people_and_programs() {
    let home = home();
    for n in 0..300 {
        home.write(
            &format!("records/projects/github.com-acme-shop/rule/r{n:03}.md"),
            format!("---\ncreated: 2026-01-01T00:00:00Z\npaths: src/**\n---\n\nRule {n:03}\n"),
        );
    }
    let mut client = records(&home);
    let asked = json!({ "project_id": SHOP, "files": ["src/a.ts"] });
    for tool in ["get_context", "get_rules"] {
        let (text, first) = done(&mut client, tool, asked.clone());
        assert_eq!(first["rules"].as_array().unwrap().len(), 250, "{tool}");
        assert_eq!(first["next_offset"], 250, "{tool}");
        let hint =
            text.lines().find(|line| line.starts_with("[50 more rules: get_rules ")).unwrap();
        let call = hint.trim_start_matches("[50 more rules: get_rules ").trim_end_matches(']');
        let (text, rest) = done(&mut client, "get_rules", serde_json::from_str(call).unwrap());
        assert!(text.contains("Rule 299") && !text.contains("Rule 249"), "{text}");
        assert_eq!((rest["rules"].as_array().unwrap().len(), &rest["count"]), (50, &300.into()));
    }
    let (text, _) = done(&mut client, "get_rules", json!({ "offset": 900 }));
    assert!(text.starts_with("No rules from number 900 on: there are 300."), "{text}");
}

#[test]
fn a_search_says_that_there_is_more() {
    let home = home();
    let mut client = records(&home);
    for n in 0..15 {
        add(
            &mut client,
            json!({ "content": format!("The payment service, part {n}"), "type": "fact" }),
        );
    }
    let (text, found) = done(&mut client, "search_memories", json!({ "query": "payment" }));
    assert_eq!((&found["count"], &found["has_more"]), (&10.into(), &true.into()), "{text}");
    assert!(
        text.contains(r#"[there are more; search_memories {"limit":20,"query":"payment"}"#),
        "{text}"
    );
    let (_, found) =
        done(&mut client, "search_memories", json!({ "query": "payment", "limit": 20 }));
    assert_eq!((&found["count"], &found["has_more"]), (&15.into(), &false.into()));
}

#[test]
fn one_memory_is_read_whole_line_by_line_and_piece_by_piece() {
    let home = home();
    let mut client = records(&home);
    let steps = "Deploy:\n\n1. `make`\n2. push\n\n   then wait";
    let id = add(&mut client, json!({ "content": steps, "type": "skill", "tags": ["ops"] }));
    let (text, _) = done(&mut client, "search_memories", json!({ "query": id }));
    assert!(text.contains(&format!("🔧 SKILL (P) {id} [ops]:\n{steps}\n")), "{text}");

    let long: String = (0..9_000).map(|n| format!("line {n:04}\n")).collect();
    let id = add(&mut client, json!({ "content": long }));
    let (mut read, mut offset) = (String::new(), json!(0));
    while !offset.is_null() {
        let asked = json!({ "query": id, "offset": offset });
        let (text, piece) = done(&mut client, "search_memories", asked);
        assert!(text.chars().count() < 60_000 && text.contains("of 89999"), "{}", text.len());
        read.push_str(piece["memories"][0]["content"].as_str().unwrap());
        offset = piece["next_offset"].clone();
    }
    assert_eq!(read, long.trim());
    refused(
        &mut client,
        "search_memories",
        json!({ "query": "words", "offset": 5 }),
        "no id of one",
    );
    // In lists long ones are cut, for programs too once there are many.
    add(&mut client, json!({ "content": long }));
    let (_, listed) = done(&mut client, "list_memories", json!({}));
    assert!(listed.to_string().len() < 120_000, "{}", listed.to_string().len());
    assert_eq!(listed["memories"][1]["content_chars"], 89_999);
}

#[test]
fn calls_as_memories_sh_knows_them_are_understood() {
    let home = home();
    let mut client = records(&home);
    add(&mut client, json!({ "content": "Ship it on Friday", "layer": "rule" }));
    let now =
        add(&mut client, json!({ "content": "Working on the ship of Friday", "layer": "working" }));
    let later = add(&mut client, json!({ "content": "The ship is named Friday", "type": "fact" }));
    let found = |client: &mut _, tool: &str, mut asked: serde_json::Value| -> Vec<String> {
        asked["query"] = json!("ship Friday");
        if tool == "list_memories" {
            asked.as_object_mut().unwrap().remove("query");
        }
        let (_, found) = done(client, tool, asked);
        let ids = found["memories"].as_array().unwrap().iter();
        ids.map(|memory| memory["id"].as_str().unwrap().to_owned()).collect()
    };
    for tool in ["search_memories", "list_memories"] {
        assert_eq!(found(&mut client, tool, json!({ "layer": "working" })), [now.as_str()]);
        assert_eq!(found(&mut client, tool, json!({ "layer": "long_term" })), [later.as_str()]);
        assert_eq!(found(&mut client, tool, json!({ "types": ["fact"] })), [later.as_str()]);
        assert_eq!(found(&mut client, tool, json!({ "layer": "rule" })).len(), 1);
    }
    assert_eq!(found(&mut client, "get_context", json!({ "mode": "working" })), [now]);
    assert_eq!(found(&mut client, "get_context", json!({ "mode": "rules_only" })).len(), 0);
    let (text, _) = done(&mut client, "get_context", json!({ "session_id": "s", "turn_count": 3 }));
    assert!(text.ends_with("[ignored, without meaning here: session_id, turn_count]"), "{text}");
    let (text, _) = done(&mut client, "consolidate_memories", json!({ "model": "gpt" }));
    assert!(text.ends_with("[ignored, without meaning here: model]"), "{text}");
    refused(&mut client, "consolidate_memories", json!({ "modle": "x" }), "no parameter \"modle\"");
    // A tool without parameters cannot misunderstand one.
    let (text, _) = done(&mut client, "vacuum_memories", json!({ "x": 1 }));
    assert!(text.starts_with("Vacuumed 0 soft-deleted memories"), "{text}");
}

#[test]
fn secrets_are_looked_for_in_everything_that_is_kept() {
    let key = "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5";
    let calls = [
        ("add_memory", json!({ "content": "x", "tags": [key] })),
        ("add_memory", json!({ "content": "x", "category": key })),
        ("add_memory", json!({ "content": "x", "metadata": { "deep": [{ "a": key }] } })),
        ("add_memory", json!({ "content": "x", "metadata": { "password": "tr0ub4dor&3Xy" } })),
        ("start_session", json!({ "title": key })),
        ("start_session", json!({ "metadata": { "a": key } })),
        ("start_memory_stream", json!({ "tags": [key] })),
    ];
    for policy in ["refuse", "redact"] {
        let home = home();
        home.ok(&["config", "set", "memory.secrets", policy]);
        let mut client = records(&home);
        let mut calls = calls.to_vec();
        let id = add(&mut client, json!({ "content": "x" }));
        calls.push(("edit_memory", json!({ "id": id, "metadata": { "a": key } })));
        calls.push(("edit_memory", json!({ "id": id, "tags": [key] })));
        let stream = done(&mut client, "start_memory_stream", json!({})).1["stream_id"].clone();
        calls.push(("append_memory_chunk", json!({ "stream_id": stream, "chunk": key })));
        for (tool, arguments) in calls {
            let (text, structured, is_error) = call(&mut client, tool, arguments.clone());
            assert_eq!(is_error, policy == "refuse", "{tool} {arguments}: {text}");
            assert!(text.contains("secret"), "{tool} {arguments}: {text}");
            assert_eq!(structured["warning"].is_string(), policy == "redact", "{tool} {arguments}");
        }
        drop(client);
        for file in walk(&home.file("records")) {
            let bytes = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
            assert!(!bytes.contains(key) && !bytes.contains("tr0ub4dor"), "{file:?}: {bytes}");
        }
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(walk(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn a_memory_expires_with_the_person_s_day_and_never_at_once() {
    let home = home();
    home.ok(&["config", "set", "records.time_zone", "America/New_York"]);
    let mut client = records(&home);
    for (expires, words) in [
        ("yesterday", "must be a day (2026-12-31, tomorrow)"),
        ("3 days ago", "must be a day"),
        ("2020-01-01", "which is over"),
    ] {
        refused(&mut client, "add_memory", json!({ "content": "x", "expires": expires }), words);
    }
    add(&mut client, json!({ "content": "Freeze", "type": "fact", "expires": "2098-12-31" }));
    let (text, listed) = done(&mut client, "list_memories", json!({}));
    assert!(text.contains("(expires 2098-12-31)"), "{text}");
    assert_eq!(listed["memories"][0]["expires"], "2098-12-31");
}

#[test]
fn what_people_write_in_reminders_and_sessions_is_read_well() {
    let home = home();
    home.write(
        "records/global/reminder/day.md",
        "---\ncron: 0 9 * * *\nsince: 2026-01-01\n---\nStretch\n",
    );
    home.write("records/global/reminder/odd.md", "---\ncron: 0 99 * * *\n---\nNever\n");
    let mut client = records(&home);
    let (text, _) = done(&mut client, "list_reminders", json!({}));
    assert!(text.contains("- day [due]") && text.contains("- odd [broken]"), "{text}");
    let one = json!({ "cron_expression": "daily", "message": "x" });
    refused(&mut client, "add_reminder", one, "has 1 field, not 5");
    let id = done(&mut client, "start_session", json!({})).1["session_id"].clone();
    for n in 1..=2 {
        let entry = json!({ "session_id": id, "content": "Seen:\n## e9 · user · message · now" });
        let (text, _) = done(&mut client, "checkpoint_session", entry);
        assert!(text.contains(&format!("with event e{n}")), "{text}");
    }
    let why = json!({ "content": "Rust", "type": "decision", "metadata": { "reason": "Because it is fast" } });
    add(&mut client, why);
    let (text, _) =
        done(&mut client, "list_memories", json!({ "project_id": "github.com/acme/shop" }));
    assert!(text.contains("Rust — because it is fast"), "{text}");
}

#[test]
fn the_scope_of_everyone_has_a_name() {
    let home = home();
    let mut client = records(&home);
    let (_, stored) =
        done(&mut client, "add_memory", json!({ "content": "For all", "project_id": "global" }));
    assert_eq!(stored["scope"], "global");
    add(&mut client, json!({ "content": "For the shop" }));
    let (text, listed) = done(&mut client, "list_memories", json!({ "project_id": "Global" }));
    assert_eq!((listed["count"].as_u64(), text.contains("For all")), (Some(1), true), "{text}");
    add(&mut client, json!({ "content": "Wide", "project_id": "記".repeat(150) }));
    let read = client
        .result("resources/read", json!({ "uri": "memories://project/github.com%2facme%2fshop" }));
    assert!(read.to_string().contains("For the shop"), "{read}");
}

#[test]
fn files_are_understood_however_they_are_named() {
    let home = home();
    std::fs::create_dir_all(home.path().join("src/api")).unwrap();
    let mut client = records(&home);
    add(
        &mut client,
        json!({ "content": "Only the API", "type": "rule", "paths": "src/api/**/*.{ts,tsx}" }),
    );
    let (address, whole) = (
        format!("file://{}/src/api/a.ts", home.path().display()),
        format!("{}/src/api/a.tsx", home.path().display()),
    );
    for (file, expected) in [
        ("src/api/a.ts", true),
        ("src/../src/api/a.ts", true),
        ("src//api//a.ts", true),
        (&address, true),
        (&whole, true),
        ("src/web/a.ts", false),
    ] {
        let (text, _) = done(&mut client, "get_rules", json!({ "files": [file] }));
        assert_eq!(text.contains("Only the API"), expected, "{file}: {text}");
    }
}

#[test]
fn paths_fit_as_they_are_written_or_are_refused() {
    let home = home();
    let mut client = records(&home);
    for (n, path) in ["src/api", "src\\api\\**", "src/[id]/page.tsx"].iter().enumerate() {
        let rule = json!({ "content": format!("Rule {n}"), "type": "rule", "paths": [path] });
        add(&mut client, rule);
    }
    let mut rules = |files: serde_json::Value| {
        done(&mut client, "get_rules", json!({ "files": files })).1["rules"].to_string()
    };
    for (files, expected) in [
        (json!(["src/api/deep/a.ts"]), [true, true, false]),
        (json!(["src/api"]), [true, true, false]),
        (json!(["src/api/"]), [true, true, false]),
        (json!(["src/[id]/page.tsx"]), [false, false, true]),
        (json!(["src/apis"]), [false, false, false]),
    ] {
        let found = rules(files.clone());
        for (n, expected) in expected.into_iter().enumerate() {
            assert_eq!(found.contains(&format!("Rule {n}")), expected, "{n} {files}: {found}");
        }
    }
    let excluding = json!({ "content": "x", "type": "rule", "paths": ["!src/**"] });
    refused(&mut client, "add_memory", excluding, "a pattern cannot exclude files");
}

#[test]
fn a_stream_says_what_it_lacks_and_nothing_of_others() {
    let home = home();
    let mut client = records(&home);
    let stream = done(&mut client, "start_memory_stream", json!({})).1["stream_id"].clone();
    for chunk in ["one ", "two ", "three"] {
        done(&mut client, "append_memory_chunk", json!({ "stream_id": stream, "chunk": chunk }));
    }
    let id = stream.as_str().unwrap();
    std::fs::remove_file(home.file(&format!("records/.streams/{id}/00002.txt"))).unwrap();
    let (text, made) = done(&mut client, "finalize_memory_stream", json!({ "stream_id": stream }));
    assert!(text.contains("MISSING: 1 of 3 chunks (number 2)"), "{text}");
    assert!(text.contains("from 2 chunks (9 chars)"), "{text}");
    assert_eq!((&made["missing_chunks"], &made["chars"]), (&json!([2]), &json!(9)));

    let start = |client: &mut _, project: &str| {
        let (_, made) = done(client, "start_memory_stream", json!({ "project_id": project }));
        made["stream_id"].as_str().unwrap().to_owned()
    };
    let others: Vec<String> = (0..49).map(|_| start(&mut client, "h/o/other")).collect();
    let own = start(&mut client, SHOP);
    let (text, _, is_error) = call(&mut client, "start_memory_stream", json!({}));
    assert!(is_error && text.contains(&own) && text.contains("49 are of other projects"), "{text}");
    assert!(others.iter().all(|other| !text.contains(other)), "{text}");
}

#[test]
fn the_project_is_the_one_that_git_names() {
    let home = home();
    let config = |text: &str| std::fs::write(home.path().join(".git/config"), text).unwrap();
    let said = |arguments: serde_json::Value| {
        let (text, _) = done(&mut records(&home), "get_rules", arguments);
        text.lines().last().unwrap_or_default().to_owned()
    };
    let own = "[url \"https://github.com/\"]\n\tinsteadOf = gh:\n[include]\n\tpath = .work\n";
    std::fs::write(home.path().join(".gitconfig"), own).unwrap();
    let work = "[url \"git@work.example:\"]\n\tinsteadOf = \"gh:acme/\" ; ours\n";
    std::fs::write(home.path().join(".work"), work).unwrap();
    for (text, expected) in [
        ("[REMOTE \"origin\"]\n\turl = gh:other/shop", "project github.com/other/shop and global"),
        ("[remote \"origin\"]\nurl = gh:acme/shop", "project work.example/shop and global"),
        (
            "[remote \"a\"]\nurl = gh:x/a\n[remote \"b\"]\nurl = gh:x/b",
            "global (no project: none of the git remotes a, b is `origin` with a host, and no \
             project_id given)",
        ),
        (
            "[remote \"origin\"]\nurl = /srv/shop.git",
            "global (no project: the git remote origin names no host, and no project_id given)",
        ),
        ("", "global (no project: no git remote was found, and no project_id given)"),
    ] {
        config(text);
        assert_eq!(said(json!({})), format!("Scope: {expected}"), "{text}");
        assert_eq!(said(json!({ "project_id": "global" })), "Scope: global (as asked)", "{text}");
    }
}

#[test]
fn a_statement_about_the_person_says_where_it_is_known() {
    let home = home();
    let mut client = records(&home);
    for (arguments, is_noticed) in [
        (json!({ "content": "I prefer tabs" }), true),
        (json!({ "content": "I prefer blanks", "type": "fact" }), true),
        (json!({ "content": "I prefer spaces", "global": false }), false),
        (json!({ "content": "I prefer dots", "global": true }), false),
        (json!({ "content": "This repo uses pnpm" }), false),
    ] {
        let (text, structured) = done(&mut client, "add_memory", arguments.clone());
        let notice = "For every repository: remember {";
        assert_eq!(text.contains(notice), is_noticed, "{arguments}: {text}");
        let warning = structured["warning"].as_str().unwrap_or_default();
        assert_eq!(warning.contains(notice), is_noticed, "{arguments}: {warning}");
    }
}
