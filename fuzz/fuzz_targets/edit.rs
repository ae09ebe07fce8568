//! Any edit of any text gives a text or an error, and what it wrote can be read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memoranda_core::id::ObservationId;
use memoranda_core::note::edit::{Edit, FactRef, Subsections, apply};
use memoranda_core::note::{Fact, MetaValue, NewObservation, parse};

// The first byte chooses the edit; its two arguments and the text follow, with U+0001 between.
fuzz_target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_first() else { return };
    let Ok(rest) = std::str::from_utf8(rest) else { return };
    let mut parts = rest.splitn(3, '\u{1}');
    let first = parts.next().unwrap_or_default().to_owned();
    let second = parts.next().unwrap_or_default().to_owned();
    let text = parts.next().unwrap_or_default();
    let edit = edit(*choice, first, second);
    let Ok(edited) = apply(text, &edit) else { return };
    let (before, after) = (parse(text), parse(&edited));
    match &edit {
        Edit::SetKey { key, value } => {
            assert_eq!(after.frontmatter.get(key), Some(value));
            assert_eq!(&text[before.body], &edited[after.body]);
        }
        Edit::RemoveKey { key } => assert_eq!(after.frontmatter.get(key), None),
        Edit::AddObservation { .. } | Edit::SupersedeObservation { .. } => {
            assert_eq!(after.observations.len(), before.observations.len() + 1);
        }
        Edit::RemoveObservation { .. } => {
            assert_eq!(after.observations.len() + 1, before.observations.len());
        }
        Edit::AddRelation { .. } => assert_eq!(apply(&edited, &edit).as_deref(), Ok(&*edited)),
        Edit::Append { .. } => assert!(edited.starts_with(text)),
        Edit::Prepend { .. } => assert!(edited.ends_with(&text[before.body])),
        Edit::InsertAtLine { line, .. } => {
            let kept = text.split_inclusive('\n').take(*line).map(str::len).sum::<usize>();
            // A lone `\r` ends a line too, and the top is below a byte-order mark.
            let lone = text.replace("\r\n", "").contains('\r') || text.starts_with('\u{feff}');
            assert!(lone || edited.starts_with(&text[..kept]) && edited.ends_with(&text[kept..]));
        }
        _ => {}
    }
});

fn edit(choice: u8, first: String, second: String) -> Edit {
    let subsections = if choice & 16 == 0 { Subsections::Replace } else { Subsections::Keep };
    let observation = match choice & 16 {
        0 => FactRef::Line(first.len()),
        _ => ObservationId::parse(&first).map_or(FactRef::Line(1), FactRef::Id),
    };
    let fact = Fact {
        id: ObservationId::from_bits(7),
        version: 2,
        time: None,
        confidence: None,
        importance: None,
        thread: Some(second.clone()).filter(|thread| !thread.is_empty()),
        superseded_by: None,
        supersedes: None,
    };
    let new = NewObservation {
        category: Some(second.clone()).filter(|_| choice & 32 == 0),
        text: first.clone(),
        context: None,
        fact: Some(fact.clone()).filter(|_| choice & 64 == 0),
    };
    let replacement = NewObservation { text: second.clone(), category: None, ..new.clone() };
    match choice % 16 {
        0 => Edit::Append { text: first },
        1 => Edit::Prepend { text: first },
        2 => Edit::FindReplace { find: first, replace: second, expected: 1 },
        3 => Edit::ReplaceSection { section: first, content: second, subsections },
        4 => Edit::InsertBeforeSection { section: first, content: second },
        5 => Edit::InsertAfterSection { section: first, content: second },
        6 => Edit::SetKey { key: first, value: MetaValue::Text(second) },
        7 => {
            let items = second.split(',').map(|item| MetaValue::Text(item.to_owned()));
            Edit::SetKey { key: first, value: MetaValue::List(items.collect()) }
        }
        8 => Edit::RemoveKey { key: first },
        9 => Edit::AddObservation { section: None, observation: new },
        10 => Edit::SupersedeObservation { observation, replacement },
        11 => Edit::RemoveObservation { observation },
        12 => Edit::SetFact { observation, fact },
        13 => Edit::AddRelation { relation_type: first, target: second, context: None },
        14 => Edit::RemoveRelation { relation_type: first, target: second },
        _ => Edit::InsertAtLine { line: first.len(), text: second },
    }
}
