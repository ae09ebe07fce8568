//! Regressions: rejected or changed texts, duplicate entities, threads that saw each other, and wrong
//! earlier states.

use memoranda_tools::Wording;
use serde_json::{Value, json};

use super::graph_save::entity;
use crate::support::TestVault;

const THREAD: &str = "t";

fn vault() -> TestVault {
    TestVault::new(Wording::Mcp)
}

fn save(vault: &TestVault, entities: Value) -> Value {
    vault.done("save_memory", json!({ "threadId": THREAD, "entities": entities }))
}

/// Returns a vault with the entities A and B, each with a relation to the other.
fn pair() -> TestVault {
    let vault = vault();
    save(&vault, json!([entity("A", "First fact", "B"), entity("B", "Second fact", "A")]));
    vault
}

fn open(vault: &TestVault, name: &str, more: Value) -> Value {
    let mut arguments = json!({ "threadId": THREAD, "names": [name] });
    more.as_object().unwrap().iter().for_each(|(key, value)| arguments[key] = value.clone());
    vault.done("open_nodes", arguments)
}

fn facts(vault: &TestVault, name: &str) -> Vec<String> {
    let found = open(vault, name, json!({}));
    let facts = found["entities"][0]["observations"].as_array().unwrap().iter();
    facts.map(|fact| fact["content"].as_str().unwrap().to_owned()).collect()
}

fn names(found: &Value) -> Vec<&str> {
    found.as_array().unwrap().iter().map(|entity| entity["name"].as_str().unwrap()).collect()
}

fn write(vault: &TestVault, name: &str, edit: impl Fn(String) -> String) {
    let path = vault.path(&format!("graph/{THREAD}/{name}.md"));
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, edit(text)).unwrap();
}

fn sync(vault: &TestVault) {
    vault.memory.sync(&mut |_| {}).unwrap();
}

#[test]
fn a_name_with_line_breaks_becomes_one_line() {
    let vault = vault();
    let broken = entity("First\nname", "First fact", "Second\r\nname");
    save(&vault, json!([broken.clone(), entity("Second name", "Second fact", "First\nname")]));
    // Repeating the call creates no other entity.
    save(&vault, json!([broken]));
    for name in ["First name", "First\nname"] {
        assert_eq!(facts(&vault, name), ["First fact"]);
    }
    let found = open(&vault, "Second name", json!({}));
    assert_eq!(found["relations"][0]["to"], "First name", "{found}");
    let delete = json!({ "threadId": THREAD, "entityNames": ["First\nname"] });
    vault.done("delete_entities", delete);
    assert_eq!(names(&open(&vault, "First name", json!({}))["entities"]), [""; 0]);
}

#[test]
fn any_text_is_an_observation_and_equal_to_itself() {
    for said in [
        "(all of it in parentheses)",
        "Calls render(x)",
        "a(b(c)) and more",
        "[x](y) is a link",
        "a ~~b~~ c is struck",
        "~~all of it~~",
        "tab\tand\rcontrol\u{7}",
        "two\r\nlines",
        "  blanks around  ",
        "See [[B]] for more",
        "[[B]] alone",
        "ends in a backslash \\",
        "[review] (of it all)",
        "<!-- obs_A v1 --> is a comment",
    ] {
        let vault = pair();
        for _ in 0..3 {
            let mut new = entity("A", said, "B");
            new["relations"][0]["relationType"] = json!("knows");
            save(&vault, json!([new]));
        }
        let kept = memoranda_core::note::plain_text(said);
        assert_eq!(facts(&vault, "A"), ["First fact", &kept], "{said:?}");
        let id = open(&vault, "A", json!({}))["entities"][0]["observations"][1]["id"].clone();
        vault.done(
            "update_observation",
            json!({ "threadId": THREAD, "entityName": "A", "observationId": id,
                    "newContent": "Something else" }),
        );
        let all = open(&vault, "A", json!({ "includeSuperseded": true }));
        let all = &all["entities"][0]["observations"];
        assert_eq!(all[2]["content"], json!(kept), "{said:?}");
        let history = vault.done(
            "get_observation_history",
            json!({ "threadId": THREAD, "entityName": "A", "observationId": id }),
        );
        assert_eq!(history["history"].as_array().unwrap().len(), 2, "{said:?}: {history}");
        assert_eq!(history["history"][0]["content"], json!(kept));
        vault.done(
            "create_entities",
            json!({ "entities": [{ "name": "R", "entityType": "T", "observations": [said] }] }),
        );
        let gone = vault.done(
            "delete_observations",
            json!({ "threadId": "default",
                    "deletions": [{ "entityName": "R", "observations": [said] }] }),
        );
        assert_eq!(gone["deleted"], 1, "{said:?}");
    }
}

#[test]
fn other_files_in_a_thread_are_not_entities() {
    let vault = vault();
    let ring = (0..4).map(|n| entity(&format!("E{n}"), "Some fact", &format!("E{}", (n + 1) % 4)));
    save(&vault, ring.collect());
    let folder = vault.path("graph/t");
    std::fs::write(folder.join("AAA.txt"), "foreign").unwrap();
    std::fs::create_dir(folder.join("AAsub")).unwrap();
    std::fs::write(folder.join("AAsub/note.md"), "# sub\n\n- [fact] foreign fact\n").unwrap();
    sync(&vault);
    let expected = ["E0", "E1", "E2", "E3"];
    for tool in ["read_graph", "list_entities", "query_nodes"] {
        let found = vault.done(tool, json!({ "threadId": THREAD }));
        assert_eq!(names(&found["entities"]), expected, "{tool}");
        let (mut paged, mut offset) = (Vec::new(), 0);
        loop {
            let page = json!({ "threadId": THREAD, "limit": 3, "offset": offset });
            let page = vault.done(tool, page);
            paged.extend(names(&page["entities"]).iter().map(|name| (*name).to_owned()));
            let Some(next) = page["nextOffset"].as_u64() else { break };
            offset = next;
        }
        assert_eq!(paged, expected, "{tool}");
        vault.refused(tool, json!({ "threadId": THREAD, "limit": 0 }));
    }
}

#[test]
fn typed_links_do_not_cross_threads() {
    let vault = vault();
    let there = json!([entity("Y", "A fact there", "Z"), entity("Z", "Another one", "Y")]);
    vault.done("save_memory", json!({ "threadId": "there", "entities": there }));
    save(&vault, json!([entity("A", "First fact", "B"), entity("B", "Second fact", "A")]));
    let of_y = |vault: &TestVault| {
        let told = vault.done("get_analytics", json!({ "threadId": "there" }));
        told["most_connected"].as_array().unwrap().iter().find(|e| e["entityName"] == "Y").cloned()
    };
    let before = of_y(&vault);
    write(&vault, "A", |text| format!("{text}- likes [[Y]]\n"));
    sync(&vault);
    assert_eq!(of_y(&vault), before);
    let here = vault.done("get_analytics", json!({ "threadId": THREAD }));
    let orphans =
        json!([{ "entityName": "A", "entityType": "Thing", "reason": "broken_relation" }]);
    assert_eq!(here["orphaned_entities"], orphans);
}

#[test]
fn a_link_within_an_observation_is_not_a_relation() {
    let vault = vault();
    let mut a = entity("A", "[[B]]", "B");
    a["observations"] = json!(["[[Nobody]] alone", "Speaks of [[B]] and [[Nothing]]", "[[B]]"]);
    save(&vault, json!([a, entity("B", "Second fact", "A")]));
    write(&vault, "B", |text| format!("{text}\nProse about [[Nowhere]].\n"));
    sync(&vault);
    let graph = vault.done("read_graph", json!({ "threadId": THREAD }));
    let said: Vec<String> = graph["relations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| format!("{} {} {}", r["from"], r["relationType"], r["to"]).replace('"', ""))
        .collect();
    assert_eq!(said, ["A knows B", "B knows A"]);
    let told = vault.done("get_analytics", json!({ "threadId": THREAD }));
    assert_eq!(told["orphaned_entities"], json!([]));
    assert_eq!(told["most_connected"][0]["relationCount"], 2);
    assert_eq!(told["most_connected"][0]["connectedTo"], json!(["B"]));
    let stats = vault.done("get_memory_stats", json!({ "threadId": THREAD }));
    assert_eq!(stats["relationCount"], 2);
    // A mentioned entity can also be a target, and a deletion keeps the texts of observations.
    let related = vault.done(
        "create_relations",
        json!({ "threadId": THREAD,
                "relations": [{ "from": "A", "to": "B", "relationType": "links_to" }] }),
    );
    assert_eq!(related["relations"].as_array().unwrap().len(), 1);
    vault.done("delete_entities", json!({ "threadId": THREAD, "entityNames": ["B"] }));
    assert_eq!(
        facts(&vault, "A"),
        ["[[Nobody]] alone", "Speaks of [[B]] and [[Nothing]]", "[[B]]"]
    );
    assert_eq!(open(&vault, "A", json!({}))["relations"], json!([]));
}

#[test]
fn an_unscanned_edit_is_a_version() {
    let vault = pair();
    let id = open(&vault, "A", json!({}))["entities"][0]["observations"][0]["id"].clone();
    write(&vault, "A", |text| text.replace("First fact", "First fact, reworded"));
    sync(&vault);
    write(&vault, "A", |text| text.replace("reworded", "reworded twice"));
    let updated = vault.done(
        "update_observation",
        json!({ "threadId": THREAD, "entityName": "A", "observationId": id,
                "newContent": "Another fact" }),
    );
    assert_eq!(updated["observation"]["version"], 4);
    let told = vault.done(
        "get_observation_history",
        json!({ "threadId": THREAD, "entityName": "A", "observationId": id }),
    );
    let history = told["history"].as_array().unwrap();
    let versions: Vec<_> = history.iter().map(|v| v["version"].as_u64().unwrap()).collect();
    assert_eq!(versions, [1, 2, 3, 4], "{told}");
}

#[test]
fn an_earlier_graph_is_read_as_it_was() {
    let vault = pair();
    write(&vault, "B", |text| text.replace("Second fact", "Second fact, reworded"));
    sync(&vault);
    let present = open(&vault, "B", json!({}));
    std::thread::sleep(std::time::Duration::from_millis(5));
    let then = memoranda_engine::clock::now().to_string();
    std::thread::sleep(std::time::Duration::from_millis(5));
    let same = |told: &Value, what: &str| {
        assert_eq!(told["relations"], present["relations"], "{what}");
        let (told, present) = (&told["entities"][0], &present["entities"][0]);
        assert_eq!(told["observations"], present["observations"], "{what}");
        assert_eq!(told["observations"][0]["version"], 2, "{what}");
        assert!(told["timestamp"].is_string() && told["lastModified"].is_string(), "{what}");
    };
    same(&open(&vault, "B", json!({ "as_of": then })), "nothing changed since");
    let search = json!({ "threadId": THREAD, "query": "reworded", "as_of": then });
    same(&vault.done("search_nodes", search.clone()), "found");
    save(&vault, json!([entity("B", "A third fact", "A")]));
    same(&open(&vault, "B", json!({ "as_of": then })), "B changed since");
    vault.done("delete_entities", json!({ "threadId": THREAD, "entityNames": ["A"] }));
    same(&open(&vault, "B", json!({ "as_of": then })), "A is gone since");
    vault.done("delete_entities", json!({ "threadId": THREAD, "entityNames": ["B"] }));
    same(&open(&vault, "B", json!({ "as_of": then })), "both are gone since");
    same(&vault.done("search_nodes", search), "found still");
    let graph = vault.done("read_graph", json!({ "threadId": THREAD, "as_of": then, "limit": 1 }));
    assert_eq!((names(&graph["entities"]), &graph["total"]), (vec!["A"], &json!(2)));
    for (tool, more) in
        [("query_nodes", json!({})), ("get_recent_changes", json!({ "since": "2020-01-01" }))]
    {
        let mut arguments = json!({ "threadId": THREAD, "as_of": then });
        more.as_object().unwrap().iter().for_each(|(k, v)| arguments[k] = v.clone());
        let (text, _) = vault.refused(tool, arguments);
        assert!(text.contains("has no parameter \"as_of\""), "{text}");
    }
}

#[test]
fn a_search_reports_its_total() {
    let vault = vault();
    let mut all: Vec<Value> =
        (0..600).map(|n| entity(&format!("Node {n}"), "Some fact", "Hub")).collect();
    all.push(entity("Hub", "A hub of it all", "Node 0"));
    save(&vault, json!(all));
    let found = vault.done("search_nodes", json!({ "threadId": THREAD, "query": "some fact" }));
    assert_eq!(found["total"], 600);
    let mut seen = names(&found["entities"]).len();
    let mut next = found["nextOffset"].as_u64();
    while let Some(offset) = next {
        let page = json!({ "threadId": THREAD, "query": "some fact", "offset": offset });
        let page = vault.done("search_nodes", page);
        seen += names(&page["entities"]).len();
        next = page["nextOffset"].as_u64();
    }
    assert_eq!(seen, 600);
    // Names, types and observations are searched, relations are not.
    let found = vault.done("search_nodes", json!({ "threadId": THREAD, "query": "knows" }));
    assert_eq!(found["entities"], json!([]));
    // A hub is shown with the relations that fit.
    let hub = open(&vault, "Hub", json!({ "maxTokens": 2000 }));
    let shown = hub["relations"].as_array().unwrap().len();
    assert!((10..300).contains(&shown), "{shown}");
    let left = format!("{} relations were left out", 601 - shown);
    assert!(hub["relationsOmitted"].as_str().unwrap().starts_with(&left), "{hub}");
    let told = vault.done("get_analytics", json!({ "threadId": THREAD }));
    let hub = &told["most_connected"][0];
    assert_eq!((&hub["entityName"], &hub["relationCount"]), (&json!("Hub"), &json!(601)));
    assert_eq!(hub["connectedTo"].as_array().unwrap().len(), 20);
    assert!(hub["truncated"].is_string());
}

#[test]
fn a_copied_line_is_a_separate_observation() {
    let vault = pair();
    write(&vault, "A", |text| {
        let line = text.lines().find(|line| line.contains("First fact")).unwrap().to_owned();
        text.replace(&line, &format!("{line}\n{}", line.replace("First", "Copied")))
    });
    sync(&vault);
    let told = open(&vault, "A", json!({}))["entities"][0]["observations"].clone();
    assert_ne!(told[0]["id"], told[1]["id"]);
    for (n, new) in [(1, "Copied and changed"), (0, "First and changed")] {
        vault.done(
            "update_observation",
            json!({ "threadId": THREAD, "entityName": "A", "observationId": told[n]["id"],
                    "newContent": new }),
        );
    }
    assert_eq!(facts(&vault, "A"), ["First and changed", "Copied and changed"]);
}

#[test]
fn an_unindexed_file_is_the_entity_of_its_title() {
    let vault = pair();
    let note = "---\ntitle: Hub\ntype: Thing\n---\n\n- [fact] Written elsewhere\n";
    std::fs::write(vault.path("graph/t/Hub.md"), note).unwrap();
    save(&vault, json!([entity("Hub", "Written here", "A")]));
    assert!(!vault.path("graph/t/Hub 2.md").exists());
    assert_eq!(facts(&vault, "Hub"), ["Written elsewhere", "Written here"]);
}

#[test]
fn relations_to_an_unknown_name_can_be_deleted() {
    let vault = vault();
    vault.done(
        "create_relations",
        json!({ "relations": [
            { "from": "A", "to": "Dangling", "relationType": "knows" },
            { "from": "A", "to": "Other", "relationType": "knows" }
        ] }),
    );
    vault.done("delete_entities", json!({ "entityNames": ["Dangling"] }));
    let left = vault.done("read_graph", json!({}))["relations"].clone();
    assert_eq!(left, json!([{ "from": "A", "to": "Other", "relationType": "knows" }]));
}
