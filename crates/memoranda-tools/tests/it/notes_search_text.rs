//! The text of search results: position, relevance, and the interpretation of the query.

use serde_json::{Value, json};

use crate::notes_support::Notes;

#[test]
fn a_hit_says_where_it_stands_and_why() {
    let notes = Notes::new();
    let text =
        "# Birds\n\nAll kinds of them.\n\n## By the water\n\nThe kingfisher dives for fish.\n";
    notes.person("main/Birds.md", text);
    notes.person("main/Bare.md", "A kingfisher.\n");
    let asked = json!({ "query": "kingfisher dives", "passages": false });
    let found = notes.ok("search_notes", asked);
    let hit = &found.structured["results"][0];
    assert_eq!(hit["title"], json!("Birds"));
    assert_eq!(hit["heading"], json!("Birds › By the water"));
    assert_eq!(hit["lines"], json!([5, 7]));
    assert_eq!(hit["why"][0], json!("words"), "{hit}");
    let relevance = hit["relevance"].as_f64().unwrap();
    assert!((0.5..=1.0).contains(&relevance) && hit["relevance"].to_string().len() <= 4, "{hit}");
    let line = " | heading: Birds › By the water | lines: 5-7 | updated: ";
    assert!(found.text.contains(line), "{}", found.text);
    assert!(found.text.contains(&format!(" | relevance: {relevance} | score: ")), "{}", found.text);
    assert!(found.structured["results"][1].get("heading").is_none(), "there is none");
    // Names and filters are no question that something could be likely to answer.
    let listed = notes.ok("search_notes", json!({ "query": "bare", "search_type": "title" }));
    assert!(listed.structured["results"][0].get("relevance").is_none());
    assert!(!listed.text.contains("relevance"), "{}", listed.text);
}

#[test]
fn every_search_reports_the_interpretation_of_the_query() {
    let notes = Notes::new();
    notes.person("main/Birds.md", "The kingfisher dives for fish.\n");
    notes.0.call("add_memory", &json!({ "content": "The kingfisher is protected." }));
    let query = "kingfischer in March 2025";
    let when = json!({ "from": "2025-03-01T00:00:00Z", "to": "2025-04-01T00:00:00Z" });
    for tool in ["search_notes", "search", "search_memories"] {
        let found = notes.ok(tool, json!({ "query": query }));
        let said = &found.structured;
        assert_eq!(said["corrections"][0]["typed"], json!("kingfischer"), "{tool}: {said}");
        let meant = said["corrections"][0]["meant"].as_str().unwrap();
        assert!(meant.starts_with("kingfish"), "{tool}: {said}");
        assert_eq!(said["when"], when, "{tool}: {said}");
        if tool != "search" {
            let line = format!("[nothing holds \"kingfischer\"; looked for {meant:?} instead]\n");
            assert!(found.text.contains(&line), "{tool}: {}", found.text);
            assert!(found.text.contains("[read as a time: 2025-03-01T"), "{tool}: {}", found.text);
        }
        let plain = notes.ok(tool, json!({ "query": "kingfisher" })).structured;
        assert!(plain.get("corrections").is_none() && plain.get("when").is_none(), "{plain}");
    }
    let begun = notes.ok("search_notes", json!({ "query": "kingf" }));
    assert!(begun.text.contains("looked for words that begin with \"kingf\""), "{}", begun.text);
}

#[test]
fn an_empty_result_suggests_another_call() {
    let notes = Notes::new();
    notes.person("main/Cats.md", "A kitten and its mother slept on the sofa.\n");
    let ask = |least: Value| {
        let arguments = json!({ "query": "dog training", "min_similarity": least });
        notes.ok("search_notes", arguments)
    };
    let nothing = ask(Value::Null);
    let hint = "Nothing relevant found.\nmin_relevance=0 shows";
    assert!(nothing.text.contains(hint), "{}", nothing.text);
    assert_eq!(ask(json!(0)).structured["total"], json!(1));
    let title = json!({ "query": "sofa", "search_type": "title" });
    let nothing = notes.ok("search_notes", title);
    assert!(nothing.text.contains("Without search_type"), "{}", nothing.text);
}

/// The contents of the results.
fn contents(found: &Value) -> Vec<String> {
    let results = found["results"].as_array().unwrap().iter();
    results.map(|result| result["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn facts_are_found_by_all_that_search_understands() {
    let notes = Notes::new();
    notes.person(
        "main/Health.md",
        "# Health\n\n- [diet] I eat little sugar\n- [allergy] I am allergic to hazelnuts\n\
         - [allergy] Penicillin gives me a rash\n",
    );
    notes.person(
        "main/Pension.md",
        "# Pension\n\n- [decision] The contribution goes up to eight percent\n\
         - [Decision] We stay with the old fund\n- [idea] Ask Ruth\n- managed_by [[Ruth]]\n",
    );
    notes.person("main/Deploy.md", "# Servers\n\n- [ops] We deploy on Tuesdays\n- [ops] No root\n");
    let first = |query: &str, expected: &str| {
        let ask = json!({ "query": query, "entity_types": ["observation"] });
        let found = notes.ok("search_notes", ask).structured;
        let first = contents(&found).first().cloned().unwrap_or_default();
        assert_eq!(first, expected, "{query}: {found}");
        assert!(found["results"][0]["relevance"].is_f64() && found["results"][0]["line"].is_u64());
    };
    let hazelnuts = "[allergy] I am allergic to hazelnuts";
    for query in ["what are my allergies", "allergies", "hazlenuts", "nuts", "allergic hazelnut"] {
        first(query, hazelnuts);
    }
    first("deploying", "[ops] We deploy on Tuesdays");
    first("allergies -hazelnuts", "[allergy] Penicillin gives me a rash");
    // A fact is also about what its note is about, and a category is one in any case.
    let decisions = |category: &str| {
        let ask = json!({ "query": "pension", "categories": [category] });
        let mut found = contents(&notes.ok("search_notes", ask).structured);
        found.sort();
        found
    };
    let both = [
        "[Decision] We stay with the old fund",
        "[decision] The contribution goes up to eight percent",
    ];
    assert_eq!(decisions("decision"), both);
    assert_eq!(decisions("DECISION"), both);
    // So it is with relations.
    let ask = json!({ "query": "who manages the pension", "entity_types": ["relation"] });
    let found = notes.ok("search_notes", ask).structured;
    assert_eq!(contents(&found), ["Pension managed_by [[Ruth]]"], "{found}");
    // Irrelevant parts are left out, even of the same note.
    let ask = json!({ "query": "hazelnuts", "entity_types": ["observation"] });
    assert_eq!(contents(&notes.ok("search_notes", ask).structured), [hazelnuts]);
}

#[test]
fn pages_of_facts_fit_together() {
    let notes = Notes::new();
    for n in 0..80 {
        let path = notes.0.path(&format!("main/many/{n:02}.md"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = format!("- [bird] heron {n}\n- [bird] a heron and an egret, {n} times\n");
        std::fs::write(path, text).unwrap();
    }
    notes.0.memory.sync(&mut |_| {}).unwrap();
    let ask = |page: usize, size: usize| {
        let ask = json!({ "query": "egret heron", "entity_types": ["observation"],
                          "page": page, "page_size": size });
        notes.ok("search_notes", ask).structured
    };
    let mut by_sevens = Vec::new();
    for page in 1.. {
        let found = ask(page, 7);
        by_sevens.extend(contents(&found));
        if found["has_more"] == json!(false) {
            break;
        }
    }
    let by_hundreds = [contents(&ask(1, 100)), contents(&ask(2, 100))].concat();
    assert_eq!(by_sevens, by_hundreds);
    assert_eq!(by_sevens.len(), 160);
    assert!(by_sevens.iter().take(50).all(|fact| fact.contains("egret")), "best first");
    by_sevens.sort();
    by_sevens.dedup();
    assert_eq!(by_sevens.len(), 160, "each once");
}

#[test]
fn no_result_exceeds_its_budget() {
    let notes = Notes::new();
    let text =
        "\"We\" sat by the water.\n\n- [bird] a heron\n- [bird] an egret\n- seen_by [[Ruth]]\n";
    let long =
        format!("---\nabout: {}\n---\n- [bird] {}\n", "x ".repeat(4000), "heron ".repeat(900));
    for n in 0..30 {
        let path = notes.0.path(&format!("main/diary/{n:02}.md"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text.repeat(1 + n % 5)).unwrap();
    }
    notes.person("main/long.md", &long);
    let check = |tool: &str, mut arguments: Value| {
        for most in [300, 1000, 3000] {
            for format in ["text", "json"] {
                arguments["max_tokens"] = json!(most);
                arguments["output_format"] = json!(format);
                let found = notes.ok(tool, arguments.clone());
                let tokens = found.text.len().div_ceil(4);
                let asked: String = arguments.to_string().chars().take(120).collect();
                assert!(tokens <= most, "{tool} {asked}: {tokens} of {most}");
                assert!(!found.structured["results"].as_array().unwrap().is_empty());
            }
        }
    };
    let zorks = format!("heron {}", "zork ".repeat(60_000));
    check("search_notes", json!({ "query": zorks, "page_size": 100, "min_similarity": 0 }));
    check("search_notes", json!({ "query": "heron", "page_size": 100 }));
    check("search_notes", json!({ "query": "egret", "page_size": 100, "categories": ["bird"] }));
    check("build_context", json!({ "url": "memory://diary/*", "page_size": 50 }));
    // Of a note that has no room its address and what there is room for is given.
    for kind in ["entity", "observation"] {
        let ask = json!({ "query": "heron heron", "tags": [], "entity_types": [kind],
                          "after_date": "2020-01-01", "note_types": ["note"], "max_tokens": 300,
                          "page_size": 1 });
        let found = notes.ok("search_notes", ask);
        assert!(found.text.len() <= 1200, "{}", found.text);
        assert!(found.structured.to_string().len() <= 1200, "{}", found.structured);
    }
    let echo = |tool: &str, query: &str| notes.0.call(tool, &json!({ "query": query })).text.len();
    for tool in ["search_notes", "search", "search_memories"] {
        assert!(echo(tool, &"zork ".repeat(60_000)) < 2000, "{tool}");
        assert!(echo(tool, &"? ".repeat(60_000)) < 2000, "{tool}");
    }
}

#[test]
fn excluded_words_apply_with_a_tag() {
    let notes = Notes::new();
    notes.person(
        "main/Farm.md",
        "---\ntags: [farm]\n---\n# Farm\n\n- [crop] Potatoes on the hill\n",
    );
    notes.person("main/Marsh.md", "---\ntags: [farm]\n---\n# Marsh\n\nTurnips in the swamp\n");
    let titles = |query: &str| {
        let found = notes.ok("search_notes", json!({ "query": query })).structured;
        let results = found["results"].as_array().unwrap().iter();
        results.map(|r| r["title"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(titles("tag:farm -swamp"), ["Farm"]);
    assert_eq!(titles("tag:farm -zzz").len(), 2);
}

#[test]
fn results_cut_by_a_budget_are_on_the_next_page() {
    let notes = Notes::new();
    for n in 0..5 {
        let text = format!("# Barley {n}\n\nThe barley of field {n} was brought in.\n");
        notes.person(&format!("main/Barley {n}.md"), &text);
    }
    let mut ask = json!({ "query": "barley field", "page_size": 5, "max_tokens": 400 });
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..10 {
        let found = notes.ok("search_notes", ask.clone()).structured;
        let results = found["results"].as_array().unwrap().iter();
        seen.extend(results.map(|r| r["title"].as_str().unwrap().to_owned()));
        assert_eq!(found["has_more"], json!(found["next"].is_object()), "{found}");
        if found["next"].is_null() {
            break;
        }
        ask["page"] = found["next"]["page"].clone();
        ask["page_size"] = found["next"]["page_size"].clone();
    }
    assert_eq!(seen.len(), 5, "{seen:?}");
}

#[test]
fn a_query_of_exclusions_excludes_them() {
    let notes = Notes::new();
    notes.write("", "Fox", "The quick brown fox. #animal");
    notes.write("", "Hen", "The hen is asleep.");
    let queries = ["NOT fox", "-fox", "NOT \"quick brown\"", "NOT (fox)", "-fox -hen"];
    let others = ["NOT tag:animal", "-tag:animal", "NOT (fox AND hen)"];
    for query in queries.into_iter().chain(others) {
        let refused =
            notes.refused("search_notes", json!({ "query": query }), "INVALID_REQUEST").text;
        assert!(refused.contains("something to look for beside it"), "{refused}");
    }
    let found = |query: &str| {
        let found = notes.ok("search_notes", json!({ "query": query })).structured;
        let titles = found["results"].as_array().unwrap().iter();
        titles.map(|hit| hit["title"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found("hen NOT fox"), ["Hen"]);
    assert_eq!(found("asleep quick"), ["Hen", "Fox"]);
    for query in ["asleep quick NOT tag:animal", "asleep quick -tag:Animal", "-tag:animal the hen"]
    {
        assert_eq!(found(query), ["Hen"], "{query}");
    }
    assert_eq!(found("asleep quick -tag:plant"), ["Hen", "Fox"]);
    assert_eq!(found("\"-fox\""), ["Fox"]);
    let tagged = json!({ "query": "NOT fox", "tags": ["animal"] });
    assert_eq!(notes.ok("search_notes", tagged).structured["results"], json!([]));
}

/// A long note that is fetched says where it was cut, and the next part begins there.
#[test]
fn a_long_note_is_fetched_in_parts() {
    let notes = Notes::new();
    let lines: String = (0..20_000).map(|n| format!("line {n} of a long note \u{e9}\n")).collect();
    let one: String = "w\u{f6}rter ".repeat(40_000);
    for text in [lines, one, "short\n".to_owned()] {
        notes.person("main/d/Long one.md", &text);
        let (mut id, mut read, mut parts) = ("main/d/Long one.md".to_owned(), String::new(), 0);
        loop {
            let part = notes.ok("fetch", json!({ "id": id })).structured;
            assert_eq!(part["id"], json!(id));
            parts += 1;
            let shown = part["text"].as_str().unwrap();
            let cut = part["metadata"]["cut_bytes"].as_u64().unwrap();
            if cut == 0 {
                read.push_str(shown);
                break;
            }
            let (kept, mark) = shown.rsplit_once("\n\n[").unwrap();
            read.push_str(kept);
            let told = format!("{cut} of {} bytes left out here", text.len());
            assert!(mark.starts_with(&told), "{mark}");
            id = mark.split('"').nth(1).unwrap().to_owned();
        }
        assert!(read == text && (parts > 1) == (text.len() > 1000), "{parts} parts");
        let past = format!("main/d/Long one.md?from={}", text.len());
        notes.refused("fetch", json!({ "id": past }), "INVALID_ARGUMENTS");
    }
}
