//! Any edit of any text returns a text or an error, and the inserted text can be parsed back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memoranda_core::id::ObservationId;
use memoranda_core::note::edit::{NoteEdit, ObservationRef, SubsectionHandling, apply_edit};
use memoranda_core::note::{ObservationMeta, MetaValue, NewObservation, parse};

// The first byte chooses the edit; its two arguments and the text follow, with U+0001 between.
fuzz_target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_first() else { return };
    let Ok(rest) = std::str::from_utf8(rest) else { return };
    let mut parts = rest.splitn(3, '\u{1}');
    let first = parts.next().unwrap_or_default().to_owned();
    let second = parts.next().unwrap_or_default().to_owned();
    let text = parts.next().unwrap_or_default();
    let edit = edit(*choice, first, second);
    let Ok(edited) = apply_edit(text, &edit) else { return };
    let (before, after) = (parse(text), parse(&edited));
    match &edit {
        NoteEdit::SetKey { key, value } => {
            assert_eq!(after.frontmatter.get(key), Some(value));
            assert_eq!(&text[before.body], &edited[after.body]);
        }
        NoteEdit::RemoveKey { key } => assert_eq!(after.frontmatter.get(key), None),
        NoteEdit::AddObservation { .. } | NoteEdit::SupersedeObservation { .. } => {
            assert_eq!(after.observations.len(), before.observations.len() + 1);
        }
        NoteEdit::RemoveObservation { .. } => {
            assert_eq!(after.observations.len() + 1, before.observations.len());
        }
        NoteEdit::AddRelation { .. } => assert_eq!(apply_edit(&edited, &edit).as_deref(), Ok(&*edited)),
        NoteEdit::Append { .. } => assert!(edited.starts_with(text)),
        NoteEdit::Prepend { .. } => assert!(edited.ends_with(&text[before.body])),
        NoteEdit::InsertAtLine { line, .. } => {
            let kept = text.split_inclusive('\n').take(*line).map(str::len).sum::<usize>();
            // A lone `\r` ends a line too, and the top of the text is after a byte-order mark.
            let lone = text.replace("\r\n", "").contains('\r') || text.starts_with('\u{feff}');
            assert!(lone || edited.starts_with(&text[..kept]) && edited.ends_with(&text[kept..]));
        }
        _ => {}
    }
});

fn edit(choice: u8, first: String, second: String) -> NoteEdit {
    let subsections = if choice & 16 == 0 { SubsectionHandling::Replace } else { SubsectionHandling::Keep };
    let observation = match choice & 16 {
        0 => ObservationRef::Line(first.len()),
        _ => ObservationId::parse(&first).map_or(ObservationRef::Line(1), ObservationRef::Id),
    };
    let fact = ObservationMeta {
        version: 2,
        thread: Some(second.clone()).filter(|thread| !thread.is_empty()),
        ..ObservationMeta::new(ObservationId::from_bits(7))
    };
    let new = NewObservation {
        category: Some(second.clone()).filter(|_| choice & 32 == 0),
        text: first.clone(),
        context: None,
        meta: Some(fact.clone()).filter(|_| choice & 64 == 0),
    };
    let replacement = NewObservation { text: second.clone(), category: None, ..new.clone() };
    match choice % 16 {
        0 => NoteEdit::Append { text: first },
        1 => NoteEdit::Prepend { text: first },
        2 => NoteEdit::FindReplace { find: first, replace: second, expected: 1 },
        3 => NoteEdit::ReplaceSection { section: first, content: second, subsections },
        4 => NoteEdit::InsertBeforeSection { section: first, content: second },
        5 => NoteEdit::InsertAfterSection { section: first, content: second },
        6 => NoteEdit::SetKey { key: first, value: MetaValue::Text(second) },
        7 => {
            let items = second.split(',').map(|item| MetaValue::Text(item.to_owned()));
            NoteEdit::SetKey { key: first, value: MetaValue::List(items.collect()) }
        }
        8 => NoteEdit::RemoveKey { key: first },
        9 => NoteEdit::AddObservation { section: None, observation: new },
        10 => NoteEdit::SupersedeObservation { observation, replacement },
        11 => NoteEdit::RemoveObservation { observation },
        12 => NoteEdit::SetObservationMeta { observation, meta: fact },
        13 => NoteEdit::AddRelation { relation_type: first, target: second, context: None },
        14 => NoteEdit::RemoveRelation { relation_type: first, target: second },
        _ => NoteEdit::InsertAtLine { line: first.len(), text: second },
    }
}
