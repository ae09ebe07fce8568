//! Facts one by one: a note that is there already gets those that it lacks, and loses nothing.

use memoranda_engine::core::note::edit::{Edit, apply};
use memoranda_engine::core::note::{Note, Observation, parse};

/// Makes every edit that the text does not already say.
pub(crate) fn join(text: &str, edits: &[Edit]) -> String {
    let mut text = text.to_owned();
    let note = parse(&text);
    for edit in edits.iter().filter(|edit| !says(&note, edit)) {
        // An edit that cannot be made leaves the text as it was.
        text = apply(&text, edit).unwrap_or(text);
    }
    text
}

fn says(note: &Note, edit: &Edit) -> bool {
    match edit {
        Edit::AddObservation { observation, .. } => {
            let wanted = words(&observation.text);
            let is_it = |known: &Observation| {
                let uncategorised = Observation { category: None, ..known.clone() };
                words(&said(known)) == wanted || words(&said(&uncategorised)) == wanted
            };
            note.observations.iter().any(is_it)
        }
        Edit::AddRelation { relation_type, target, .. } => note
            .relations
            .iter()
            .any(|known| known.relation_type == *relation_type && known.target == *target),
        _ => false,
    }
}

/// A fact as other systems know it: one text, with what Memoranda reads out of it put back.
pub(crate) fn said(observation: &Observation) -> String {
    let mut text = String::new();
    if let Some(category) = &observation.category {
        text = format!("[{category}] ");
    }
    text.push_str(&observation.text);
    if let Some(context) = &observation.context {
        text = format!("{text} ({context})");
    }
    text
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use memoranda_engine::core::note::NewObservation;

    use super::*;

    #[test]
    fn only_what_is_missing_is_added() {
        let fact = |text: &str| Edit::AddObservation {
            section: None,
            observation: NewObservation {
                category: None,
                text: text.to_owned(),
                context: None,
                fact: None,
            },
        };
        let relation =
            Edit::AddRelation { relation_type: "uses".into(), target: "B".into(), context: None };
        let edits = [fact("one (why)"), fact("two"), relation];
        let text = join("# A\n", &edits);
        assert_eq!(join(&text, &edits), text);
        let mine = text.replace("two", "2");
        let joined = join(&mine, &edits);
        assert!(joined.contains("] 2\n") && joined.contains("] two\n"), "{joined}");
    }
}
