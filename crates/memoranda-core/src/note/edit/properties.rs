//! Properties that hold for every text and every edit.

use proptest::prelude::*;

use super::super::{one_line, parse};
use super::*;

/// Texts made of pieces that the grammar distinguishes.
fn texts() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "---\n",
        "title: T\n",
        "tags: [a, b]\n",
        "k:\n  - x\n",
        "\u{feff}",
        "\n",
        "\r\n",
        "\r",
        "# ",
        "## A\n",
        "## Observations\n",
        "## History\n",
        "## Relations\n",
        "### S\n",
        "- ",
        "  - ",
        "> ",
        "```\n",
        "    ",
        "\t",
        "[a1] ",
        "[ ] ",
        "text ",
        "#tag ",
        "(ctx)",
        "[[A]]",
        "[[B|c]]",
        "uses ",
        "<!-- obs_A v1 -->",
        "<!-- obs_B v2 c=0.5 x=y by obs_A -->",
        "<!--",
        "-->",
        "~~",
        "é",
        "日本",
        "\0",
        "===\n",
        "<div>\n",
        "\\",
        "|",
        ": ",
        "'",
        "\"",
        "{",
        "}",
        "&a ",
        "*a ",
    ]);
    prop_oneof![
        prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat()),
        any::<String>(),
    ]
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zé日 ]{0,12}", "[ -~\\n]{0,16}", texts()]
}

fn values() -> impl Strategy<Value = MetaValue> {
    let leaf = prop_oneof![any::<String>(), "[ -~]{0,12}", "[0-9:.eTZ-]{0,8}"];
    leaf.prop_map(MetaValue::Text).prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(MetaValue::List),
            prop::collection::vec(("[a-z]{1,4}", inner), 0..3).prop_map(MetaValue::Map),
        ]
    })
}

fn facts() -> impl Strategy<Value = ObservationMeta> {
    (
        (any::<u128>(), any::<u32>(), prop::option::of(0i64..4_000_000_000)),
        (prop::option::of(0.0..=1.0f64), prop::option::of(0.0..=1.0f64)),
        prop::option::of("\\PC{1,10}|[ -~]{1,10}"),
        (prop::option::of(any::<u128>()), prop::option::of(any::<u128>())),
    )
        .prop_map(
            |((id, version, time), (confidence, importance), thread, (by, supersedes))| {
                ObservationMeta {
                    id: ObservationId::from_bits(id),
                    version,
                    time: time.map(|seconds| jiff::Timestamp::from_second(seconds).unwrap()),
                    confidence,
                    importance,
                    thread,
                    superseded_by: by.map(ObservationId::from_bits),
                    supersedes: supersedes.map(ObservationId::from_bits),
                }
            },
        )
}

fn observations() -> impl Strategy<Value = NewObservation> {
    (prop::option::of(words()), words(), prop::option::of(words()), prop::option::of(facts()))
        .prop_map(|(category, text, context, fact)| NewObservation {
            category,
            text,
            context,
            meta: fact,
        })
}

fn references() -> impl Strategy<Value = ObservationRef> {
    prop_oneof![
        (1usize..12).prop_map(ObservationRef::Line),
        Just(ObservationRef::Id(ObservationId::parse("obs_A").unwrap())),
    ]
}

fn names() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["A", "## A", "S", "Observations", "New"]).prop_map(str::to_owned)
}

fn edits() -> impl Strategy<Value = NoteEdit> {
    let content = || words();
    prop_oneof![
        content().prop_map(|text| NoteEdit::Append { text }),
        content().prop_map(|text| NoteEdit::Prepend { text }),
        (content(), content(), 0usize..3).prop_map(|(find, replace, expected)| {
            NoteEdit::FindReplace { find, replace, expected }
        }),
        (
            names(),
            content(),
            prop::sample::select(vec![SubsectionHandling::Replace, SubsectionHandling::Keep])
        )
            .prop_map(|(section, content, subsections)| NoteEdit::ReplaceSection {
                section,
                content,
                subsections
            }),
        (names(), content())
            .prop_map(|(section, content)| NoteEdit::InsertBeforeSection { section, content }),
        (names(), content())
            .prop_map(|(section, content)| NoteEdit::InsertAfterSection { section, content }),
        (words(), values()).prop_map(|(key, value)| NoteEdit::SetKey { key, value }),
        words().prop_map(|key| NoteEdit::RemoveKey { key }),
        (prop::option::of(names()), observations())
            .prop_map(|(section, observation)| NoteEdit::AddObservation { section, observation }),
        (references(), observations()).prop_map(|(observation, replacement)| {
            NoteEdit::SupersedeObservation { observation, replacement }
        }),
        references().prop_map(|observation| NoteEdit::RemoveObservation { observation }),
        references().prop_map(|observation| NoteEdit::StrikeObservation { observation, by: None }),
        (references(), facts()).prop_map(|(observation, fact)| NoteEdit::SetObservationMeta {
            observation,
            meta: fact
        }),
        (words(), words(), prop::option::of(words())).prop_map(
            |(relation_type, target, context)| NoteEdit::AddRelation {
                relation_type,
                target,
                context
            }
        ),
        (words(), words(), facts()).prop_map(|(relation_type, target, fact)| {
            NoteEdit::AddRatedRelation {
                relation: NewRelation {
                    relation_type,
                    target,
                    time: fact.time,
                    confidence: fact.confidence,
                    importance: fact.importance,
                },
            }
        }),
        (words(), names())
            .prop_map(|(relation_type, target)| NoteEdit::RemoveRelation { relation_type, target }),
        (0usize..12, content()).prop_map(|(line, text)| NoteEdit::InsertAtLine { line, text }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_span_lies_in_the_text(text in texts()) {
        let note = parse(&text);
        prop_assert!(text.get(note.body.clone()).is_some());
        let mut last = 0;
        for observation in &note.observations {
            prop_assert!(text.get(observation.span.clone()).is_some());
            prop_assert!(observation.span.start >= last);
            last = observation.span.end;
        }
        last = 0;
        for section in &note.sections {
            prop_assert!(text.get(section.heading.clone()).is_some());
            prop_assert!(text.get(section.content.clone()).is_some());
            prop_assert!(section.heading.start >= last && section.heading.end == section.content.start);
            last = section.heading.end;
        }
        for relation in &note.relations {
            let link = text.get(relation.span.clone()).unwrap_or_default();
            prop_assert!(link.starts_with("[[") && link.ends_with("]]"));
        }
    }

    #[test]
    fn edits_never_panic(text in texts(), edit in edits()) {
        if let Ok(edited) = apply_edit(&text, &edit) {
            prop_assert!(parse(&edited).body.end == edited.len());
        }
    }

    #[test]
    fn inserted_lines_keep_every_other_byte(text in texts(), edit in edits()) {
        let Ok(edited) = apply_edit(&text, &edit) else { return Ok(()) };
        let inserts = matches!(
            edit,
            NoteEdit::Append { .. } | NoteEdit::Prepend { .. } | NoteEdit::InsertAtLine { .. }
                | NoteEdit::InsertBeforeSection { .. } | NoteEdit::InsertAfterSection { .. }
                | NoteEdit::AddObservation { .. } | NoteEdit::AddRelation { .. } | NoteEdit::AddRatedRelation { .. }
        );
        let common = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
        let reversed = |text: &str| text.bytes().rev().collect::<Vec<_>>();
        let prefix = common(&text, &edited);
        let suffix = reversed(&text).iter().zip(&reversed(&edited)).take_while(|(a, b)| a == b).count();
        if inserts {
            prop_assert!(prefix + suffix >= text.len(), "{text:?} -> {edited:?}");
        }
        if let NoteEdit::SetObservationMeta { observation, .. } = &edit {
            let note = parse(&text);
            let meant = note.observations.iter().find(|o| match observation {
                ObservationRef::Id(id) => o.meta.as_ref().is_some_and(|fact| fact.id == *id),
                ObservationRef::Line(line) => o.line == *line,
            });
            let span = meant.map(|o| o.span.clone()).unwrap_or_default();
            prop_assert!(prefix >= span.start && suffix >= text.len() - span.end);
        }
    }

    #[test]
    fn one_line_ending_stays_one_line_ending(text in texts(), edit in edits()) {
        let text = text.replace(['\r', '\0'], "").replace('\n', "\r\n") + "\r\n";
        let Ok(edited) = apply_edit(&text, &edit) else { return Ok(()) };
        prop_assert_eq!(edited.matches('\n').count(), edited.matches("\r\n").count(), "{:?}", edited);
    }

    #[test]
    fn a_set_key_parses_back(text in texts(), key in words(), value in values()) {
        let before = parse(&text);
        let edit = NoteEdit::SetKey { key: key.clone(), value: value.clone() };
        let Ok(edited) = apply_edit(&text, &edit) else { return Ok(()) };
        let after = parse(&edited);
        prop_assert_eq!(after.frontmatter.get(&key), Some(&value));
        let others = |note: &super::super::Note| -> Vec<_> {
            note.frontmatter.entries.iter().filter(|(name, _)| *name != key).cloned().collect()
        };
        prop_assert_eq!(others(&before), others(&after));
        prop_assert_eq!(&text[before.body], &edited[after.body]);
    }

    #[test]
    fn any_value_can_be_set_on_a_plain_note(key in "[a-z]{1,8}", value in values()) {
        let text = "---\ntitle: T # c\n---\nbody\n";
        let edited = apply_edit(text, &NoteEdit::SetKey { key: key.clone(), value: value.clone() });
        prop_assert!(edited.is_ok(), "{:?}", edited);
    }

    #[test]
    fn rendered_frontmatter_equals_setting_keys_one_by_one(
        keys in prop::collection::btree_map("[a-z]{1,8}", values(), 1..5),
    ) {
        let keys: Vec<_> = keys.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        let mut text = String::new();
        for (key, value) in keys.clone() {
            text = apply_edit(&text, &NoteEdit::SetKey { key: key.to_owned(), value }).unwrap();
        }
        prop_assert_eq!(render_frontmatter(&keys), text);
    }

    #[test]
    fn written_observations_are_read_back(
        category in "[a-w][a-z ]{0,6}[a-z]",
        text in "[a-z][a-z0-9 #.,:é-]{0,20}[a-z]",
        context in prop::option::of("[a-z][a-z .]{0,8}[a-z]"),
        fact in prop::option::of(facts()),
    ) {
        let new = NewObservation { category: Some(category), text, context, meta: fact };
        let line = super::super::render_observation(&new);
        let note = parse(&format!("- {line}\n"));
        prop_assert_eq!(note.observations.len(), 1);
        let read = &note.observations[0];
        prop_assert_eq!((&read.category, &read.text), (&new.category, &new.text));
        // A fact that is not struck out has not been superseded.
        let fact = new.meta.map(|fact| ObservationMeta { superseded_by: None, ..fact });
        prop_assert_eq!((&read.context, &read.meta), (&new.context, &fact));
        prop_assert!(note.problems.is_empty(), "{:?}", note.problems);
    }

    #[test]
    fn written_relations_are_read_back(kind in words(), target in words(), context in words()) {
        let edit = NoteEdit::AddRelation { relation_type: kind, target, context: Some(context) };
        if let Ok(edited) = apply_edit("", &edit) {
            prop_assert_eq!(parse(&edited).relations.len(), 1, "{:?}", edited);
            prop_assert_eq!(apply_edit(&edited, &edit), Ok(edited));
        }
    }

    #[test]
    fn relations_with_meta_round_trip(kind in "\\PC{1,30}", target in "(\\PC|\n){1,40}") {
        let (kind, target) = (kind.trim().to_owned(), target.trim().to_owned());
        prop_assume!(!kind.is_empty() && !target.is_empty());
        let relation = NewRelation {
            relation_type: kind,
            target,
            time: None,
            confidence: None,
            importance: Some(0.7),
        };
        let edited = apply_edit("# T\n", &NoteEdit::AddRatedRelation { relation: relation.clone() });
        prop_assert!(edited.is_ok(), "{:?}", edited);
        let edited = edited.unwrap_or_default();
        let note = parse(&edited);
        prop_assert_eq!(note.relations.len(), 1, "{:?}", edited);
        let read = &note.relations[0];
        prop_assert_eq!(&read.relation_type, &one_line(&relation.relation_type));
        prop_assert_eq!(read.name(), &one_line(&relation.target));
        let (relation_type, target) = (relation.relation_type, relation.target);
        let gone = apply_edit(&edited, &NoteEdit::RemoveRelation { relation_type, target });
        prop_assert_eq!(gone.map(|text| parse(&text).relations.len()), Ok(0));
    }

    #[test]
    fn observation_content_round_trips(first in said(), second in said()) {
        use super::super::{observation_content, plain_text, observation_from_text};
        let observation = NewObservation { meta: Some(fact_of("obs_A")), ..observation_from_text(&first) };
        let edited = apply_edit("# T\n", &NoteEdit::AddObservation { section: None, observation });
        prop_assert!(edited.is_ok(), "{:?}", edited);
        let edited = edited.unwrap_or_default();
        let note = parse(&edited);
        prop_assert_eq!(note.observations.len(), 1, "{:?}", edited);
        prop_assert!(!note.observations[0].struck, "{:?}", edited);
        prop_assert_eq!(observation_content(&edited, &note.observations[0]), plain_text(&first), "{:?}", edited);
        // The content survives superseding too.
        let replacement = NewObservation { meta: Some(fact_of("obs_B")), ..observation_from_text(&second) };
        let observation = ObservationRef::Id(ObservationId::parse("obs_A").unwrap());
        let edited = apply_edit(&edited, &NoteEdit::SupersedeObservation { observation, replacement });
        prop_assert!(edited.is_ok(), "{:?}", edited);
        let edited = edited.unwrap_or_default();
        let note = parse(&edited);
        let read: Vec<_> =
            note.observations.iter().map(|o| (observation_content(&edited, o), o.struck)).collect();
        prop_assert_eq!(read, [(plain_text(&second), false), (plain_text(&first), true)], "{:?}", edited);
    }

    #[test]
    fn permalinks_are_stable(text in any::<String>()) {
        use super::super::permalink::{normalize_directory, file_name_from_title, slug};
        let once = slug(&text);
        prop_assert_eq!(slug(&once), once.clone());
        let file = file_name_from_title(&text);
        prop_assert!(crate::path::NotePath::parse(&file).is_ok() || file.contains(':'), "{}", file);
        let folder = normalize_directory(&text);
        prop_assert_eq!(normalize_directory(&folder), folder.clone());
        prop_assert!(folder.is_empty() || crate::path::NotePath::parse(&folder).is_ok());
    }
}

/// Contents that a caller may write as a fact.
fn said() -> impl Strategy<Value = String> {
    let pieces = "(\\PC|[\n\t\r()\\[\\]{}#~*_` ]|<br>|<!--|-->|~~|\\\\|\\[fact\\] |\\[a1\\] |\\[\\[B\\]\\]|#bm:links_to){1,40}";
    prop_oneof![pieces, "[()]{1,3}[a-z ]{0,8}[()]{1,3}", any::<String>()]
        .prop_filter("says something", |said| !super::super::plain_text(said).is_empty())
}

fn fact_of(id: &str) -> ObservationMeta {
    ObservationMeta::new(ObservationId::parse(id).unwrap())
}
