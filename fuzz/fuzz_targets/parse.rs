//! Any text parses as a note, and every part of the note is a range of the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memoranda_core::note::{fact_edits, parse};

fuzz_target!(|text: &str| {
    let note = parse(text);
    assert!(text.get(note.body.clone()).is_some());
    let mut last = 0;
    for observation in &note.observations {
        assert!(text.get(observation.span.clone()).is_some());
        assert!(observation.span.start >= last);
        last = observation.span.end;
    }
    let mut last = 0;
    for section in &note.sections {
        assert!(text.get(section.heading.clone()).is_some());
        assert!(text.get(section.content.clone()).is_some());
        assert!(section.heading.start >= last);
        last = section.heading.end;
    }
    for relation in &note.relations {
        let link = text.get(relation.span.clone()).unwrap_or_default();
        assert!(link.starts_with("[[") && link.ends_with("]]"));
    }
    assert!(fact_edits(&note, &note).is_empty());
    if !text.contains('\r') {
        let other = parse(&text.replace('\n', "\r\n"));
        assert_eq!(note.frontmatter.entries, other.frontmatter.entries);
        assert!(
            note.sections
                .iter()
                .map(|s| (s.level, &s.title, s.line))
                .eq(other.sections.iter().map(|s| (s.level, &s.title, s.line)))
        );
        assert!(
            note.observations
                .iter()
                .map(|o| (&o.text, &o.tags, &o.meta, o.line))
                .eq(other.observations.iter().map(|o| (&o.text, &o.tags, &o.meta, o.line)))
        );
        assert!(
            note.relations
                .iter()
                .map(|r| (&r.relation_type, &r.target, r.line))
                .eq(other.relations.iter().map(|r| (&r.relation_type, &r.target, r.line)))
        );
    }
    let _ = (note.title(), note.note_type(), note.tags(), note.aliases());
});
