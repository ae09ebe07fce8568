//! Pages of `search_notes`: every page size ends with the same results.

use serde_json::{Value, json};

use crate::notes_support::Notes;

fn vault() -> Notes {
    let subjects = ["cat", "dog", "kitten", "horse", "garden", "train", "invoice", "theorem"];
    let things = ["lives with us", "was at the vet", "needs food", "was sold", "makes a noise"];
    let more = ["today", "in spring", "again", "at home"];
    let notes = Notes::new();
    let folder = notes.0.path("main");
    std::fs::create_dir_all(&folder).unwrap();
    for (s, subject) in subjects.iter().enumerate() {
        for (t, thing) in things.iter().enumerate() {
            for (m, more) in more.iter().enumerate() {
                let text =
                    format!("# {subject} {t} {m}\n\n- [seen] The {subject} {thing} {more}\n");
                std::fs::write(folder.join(format!("n{s}-{t}-{m}.md")), text).unwrap();
            }
        }
    }
    notes.0.memory.sync(&mut |_| {}).unwrap();
    notes
}

/// The results of all pages of one size.
fn walk(notes: &Notes, asked: &Value, size: usize) -> Vec<Value> {
    let (mut shown, mut page) = (Vec::new(), 1);
    loop {
        let mut asked = asked.clone();
        (asked["page"], asked["page_size"]) = (json!(page), json!(size));
        let found = notes.ok("search_notes", asked).structured;
        let results = found["results"].as_array().unwrap();
        shown.extend(results.iter().map(|result| result["file_path"].clone()));
        assert_eq!(found["total"], json!(shown.len()));
        assert_eq!(found["total_is_exact"], json!(found["has_more"] == json!(false)));
        if found["has_more"] == json!(false) {
            return shown;
        }
        assert_eq!(results.len(), size);
        page += 1;
    }
}

#[test]
fn pages_of_any_size_have_the_same_results() {
    let notes = vault();
    for kind in ["entity", "observation"] {
        for search_type in ["text", "hybrid", "semantic"] {
            let asked = json!({
                "query": "cat or dog, sold today or again in spring, noise at home or at the vet",
                "search_type": search_type,
                "entity_types": [kind],
            });
            let expected = walk(&notes, &asked, 100);
            assert!(expected.len() > 10, "{asked}: {}", expected.len());
            for size in [5, 10, 50] {
                assert_eq!(walk(&notes, &asked, size), expected, "{asked} by {size}");
            }
            // Behind the end there is nothing, and the same number before it.
            let mut behind = asked.clone();
            (behind["page"], behind["page_size"]) = (json!(30), json!(50));
            let behind = notes.ok("search_notes", behind).structured;
            assert_eq!(behind["total"], json!(expected.len()), "{asked}");
        }
    }
}
