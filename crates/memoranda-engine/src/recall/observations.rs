//! Passages of entities as people read them: observations without the metadata of their lines.

use memoranda_core::id::ObservationId;
use memoranda_core::statement::StatementKind;

use super::RecalledPassage;

/// Headings of an entity's note, which say nothing about it.
const HEADINGS: [&str; 2] = ["## Observations", "## Relations"];

/// Renders a passage of an entity. The id of its only observation is returned; several observations
/// are each followed by their id, by which `forget` finds one.
pub(super) fn observation_text(passage: &str) -> (String, Option<String>) {
    let lines: Vec<(String, Option<ObservationId>)> = passage
        .lines()
        .filter(|line| !HEADINGS.contains(&line.trim()))
        .map(|line| match line.split_once("<!--") {
            Some((text, comment)) => {
                let id = comment.split_whitespace().next().and_then(ObservationId::parse);
                (text.trim_end().to_owned(), id)
            }
            None => (line.to_owned(), None),
        })
        .collect();
    let ids: Vec<&ObservationId> = lines.iter().filter_map(|(_, id)| id.as_ref()).collect();
    if let [only] = ids.as_slice() {
        let id = only.as_str().to_owned();
        return (joined(lines.iter().map(|(text, _)| text.clone())), Some(id));
    }
    let text = lines.iter().map(|(text, id)| match id {
        Some(id) => format!("{text} (id {})", id.as_str()),
        None => text.clone(),
    });
    (joined(text), None)
}

/// Splits a passage of several observations into one for each. Other passages stay whole.
pub(crate) fn split_observations(passage: RecalledPassage) -> Vec<RecalledPassage> {
    let lines: Vec<(&str, &str)> = passage
        .text
        .lines()
        .filter_map(|line| line.strip_suffix(')')?.rsplit_once(" (id obs_"))
        .collect();
    if passage.kind != StatementKind::Fact || passage.id.is_some() || lines.is_empty() {
        return vec![passage];
    }
    let one = |(text, id): (&str, &str)| RecalledPassage {
        text: text.to_owned(),
        id: Some(format!("obs_{id}")),
        ..passage.clone()
    };
    lines.into_iter().map(one).collect()
}

fn joined(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observations_are_shown_without_their_metadata() {
        let one = "## Observations\n- [fact] Likes tea <!-- obs_1 v1 2026-01-02T03:04:05Z -->";
        assert_eq!(observation_text(one), ("- [fact] Likes tea".into(), Some("obs_1".into())));
        let two = "- [fact] Likes tea <!-- obs_1 v1 -->\n- [fact] Plays chess <!-- obs_2 v1 -->";
        let shown = "- [fact] Likes tea (id obs_1)\n- [fact] Plays chess (id obs_2)";
        assert_eq!(observation_text(two), (shown.into(), None));
        let by_hand = "Some words\n- [fact] Likes tea";
        assert_eq!(observation_text(by_hand), (by_hand.into(), None));
    }
}
