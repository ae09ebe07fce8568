//! Merges imported facts into an existing note: adds missing facts and removes none.

use memoranda_engine::core::note::edit::{NoteEdit, apply_edit};
use memoranda_engine::core::note::{Note, observation_content, parse, render_observation};

/// Applies every edit whose result is missing in the text.
pub(crate) fn merge_facts(text: &str, edits: &[NoteEdit]) -> String {
    let note = parse(text);
    let mut joined = text.to_owned();
    for edit in edits.iter().filter(|edit| !contains_edit(text, &note, edit)) {
        // A failed edit leaves the text unchanged.
        joined = apply_edit(&joined, edit).unwrap_or(joined);
    }
    joined
}

fn contains_edit(text: &str, note: &Note, edit: &NoteEdit) -> bool {
    match edit {
        // A struck observation counts as present, so that superseded facts are not imported again.
        NoteEdit::AddObservation { observation, .. }
        | NoteEdit::SupersedeObservation { replacement: observation, .. } => {
            let line = format!("- {}\n", render_observation(observation));
            let wanted =
                parse(&line).observations.first().map(|new| observation_content(&line, new));
            note.observations.iter().any(|known| Some(observation_content(text, known)) == wanted)
        }
        NoteEdit::AddRatedRelation { relation } => note.relations.iter().any(|known| {
            let same = known.relation_type == relation.relation_type;
            same && known.is_stated && known.name() == relation.target
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use memoranda_engine::core::note::{NewRelation, observation_from_text};

    use super::*;

    #[test]
    fn only_what_is_missing_is_added() {
        let fact = |text: &str| NoteEdit::AddObservation {
            section: None,
            observation: observation_from_text(text),
        };
        let relation = NewRelation {
            relation_type: "works at".into(),
            target: "Issue #5".into(),
            time: None,
            confidence: None,
            importance: None,
        };
        let edits =
            [fact("one (why)"), fact("[x] two\nlines"), NoteEdit::AddRatedRelation { relation }];
        let text = merge_facts("# A\n", &edits);
        assert_eq!(merge_facts(&text, &edits), text);
        let mine = text.replace("two", "2");
        let joined = merge_facts(&mine, &edits);
        assert_eq!(joined.matches("[x] 2<br>lines").count(), 1, "{joined}");
        assert_eq!(joined.matches("[x] two<br>lines").count(), 1, "{joined}");
        assert_eq!(joined.matches("one (why)").count(), 1, "{joined}");
    }
}
