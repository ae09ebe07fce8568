//! Names in composed and decomposed Unicode, as macOS writes them.

use serde_json::{Value, json};

use crate::notes_support::Notes;

/// Names as people write them, and as macOS does.
const BOTH: [(&str, &str); 4] = [
    ("Мой чай", "Мои\u{306} чаи\u{306}"),
    ("한국어", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165}"),
    ("Άλλα", "Α\u{301}λλα"),
    ("Việt", "Vie\u{323}\u{302}t"),
];

/// Runs a check on a name and on what it may be asked by, in both directions.
fn check(one: impl Fn(&str, &str)) {
    for (composed, decomposed) in BOTH {
        for written in [composed, decomposed] {
            for said in [composed, decomposed] {
                one(written, said);
            }
        }
    }
}

fn places(results: &Value) -> Vec<&str> {
    let results = results.as_array().map(Vec::as_slice).unwrap_or_default();
    results.iter().filter_map(|result| result["file_path"].as_str()).collect()
}

#[test]
fn titles_and_their_pieces_are_found() {
    check(|written, said| {
        let notes = Notes::new();
        notes.person("main/a.md", &format!("---\ntitle: {written}\n---\nOf a pump.\n"));
        notes.person("main/b.md", &format!("---\ntitle: x{written}x\n---\nOf a car.\n"));
        let found = |query: &str| {
            let asked = json!({ "query": query, "search_type": "title" });
            notes.ok("search_notes", asked).structured["results"].clone()
        };
        assert_eq!(places(&found(said))[0], "a.md", "{said:?} as {written:?}");
        let piece: String = format!("x{said}").split(' ').next().unwrap_or_default().into();
        assert_eq!(places(&found(&piece)), ["b.md"], "{piece:?} in {written:?}");
        let inner = format!("{said}x");
        let inner = inner.split(' ').next_back().unwrap_or_default();
        assert_eq!(places(&found(inner)), ["b.md"], "{inner:?} in {written:?}");
    });
}

#[test]
fn permalinks_links_and_folders_are_found() {
    check(|written, said| {
        let notes = Notes::new();
        notes.person(&format!("main/{written}/{written}.md"), "Of a pump.\n");
        notes.person("main/stated.md", &format!("---\npermalink: at/{written}\n---\nOf a car.\n"));
        notes.person("main/alias.md", &format!("---\naliases: [{written} 2]\n---\nOf a boat.\n"));
        let link =
            format!("- goes_to [[{said}]]\n- goes_to [[at/{said}]]\n- goes_to [[{said} 2]]\n");
        notes.person("main/links.md", &link);
        let why = format!("{said:?} as {written:?}");
        let read = |identifier: &str| {
            let read = notes.ok("read_note", json!({ "identifier": identifier }));
            read.text
        };
        assert!(read(said).contains("Of a pump."), "{why}");
        assert!(read(&format!("{said}/{said}")).contains("Of a pump."), "{why}");
        assert!(read(&format!("at/{said}")).contains("Of a car."), "{why}");
        assert!(read(&format!("memory://at/{said}")).contains("Of a car."), "{why}");
        assert!(read(&format!("{said} 2")).contains("Of a boat."), "{why}");
        let found = |query: &str| {
            let asked = json!({ "query": query, "search_type": "permalink" });
            notes.ok("search_notes", asked).structured["results"].clone()
        };
        assert_eq!(places(&found(&format!("at/{said}"))), ["stated.md"], "{why}");
        assert_eq!(places(&found(&format!("at/{said}*"))), ["stated.md"], "{why}");
        assert_eq!(places(&found(&format!("{said}/*"))).len(), 1, "{why}");
        let context = notes.ok("build_context", json!({ "url": "memory://links" })).text;
        for place in [&format!("{written}/{written}.md"), "stated.md", "alias.md"] {
            assert!(context.contains(place), "{why} {place}: {context}");
        }
        let listed = notes.ok("list_directory", json!({ "dir_name": said }));
        assert!(listed.text.contains(&format!("{written}.md")), "{why}: {}", listed.text);
    });
}

#[test]
fn kinds_and_values_are_found() {
    check(|written, said| {
        let notes = Notes::new();
        let word = |name: &str| name.split(' ').next().unwrap_or_default().to_owned();
        let (name, said) = (word(written), word(said));
        let text = format!("---\ntype: {name}\nstatus: {name}\n---\n- [{name}] A fact #{name}\n");
        notes.person("main/a.md", &text);
        notes.person("main/b.md", "Of a car.\n");
        for asked in [
            json!({ "note_types": [&said] }),
            json!({ "status": &said }),
            json!({ "metadata_filters": { "status": { "$in": [&said, "x"] } } }),
            json!({ "categories": [&said] }),
            json!({ "query": "fact", "categories": [&said] }),
            json!({ "tags": [&said] }),
            json!({ "query": format!("tag:{said}") }),
        ] {
            let found = notes.ok("search_notes", asked.clone());
            assert_eq!(places(&found.structured["results"]), ["a.md"], "{asked} in {text}");
        }
    });
}
