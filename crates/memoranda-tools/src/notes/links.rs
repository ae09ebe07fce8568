//! Renders links whose target changed.

use memoranda_core::id::ProjectName;
use memoranda_engine::{LinkDirection, LinkText, NoteLocation, OutdatedLink, link_key};
use serde_json::{Value, json};

use crate::registry::{CallContext, count};

/// Maximum number of files or links in a text.
pub(super) const MAX_NAMED: usize = 20;
pub(super) const MAX_LISTED: usize = 200;

/// Returns the links that the caller may see: a server that is restricted to one project hides
/// notes of other projects.
pub(super) fn visible_links(call: &CallContext<'_>, links: Vec<OutdatedLink>) -> Vec<OutdatedLink> {
    let Some(only) = call.settings.notes.only_project.as_deref().map(link_key) else {
        return links;
    };
    let is_known = |place: &NoteLocation| link_key(place.project.as_str()) == only;
    let links = links.into_iter().filter(|link| is_known(&link.holder));
    links.map(|link| OutdatedLink { means: link.means.filter(is_known), ..link }).collect()
}

/// Counts links, each as often as it is written.
pub(super) fn count_links<'l>(links: impl IntoIterator<Item = &'l OutdatedLink>) -> String {
    count(links.into_iter().map(|link| link.count).sum(), "link")
}

/// Lists links, one per line, relative to a project.
pub(super) fn list_links(project: &ProjectName, links: &[&OutdatedLink]) -> String {
    let line = |outdated: &&OutdatedLink| {
        let said = match &outdated.link {
            LinkText::Name(name) => format!("[[{name}]]"),
            LinkText::Path(path) => format!("({path})"),
        };
        let means = outdated
            .means
            .as_ref()
            .map(|other| format!(" means {}", relative_place(project, other)));
        let times = match outdated.count {
            ..=1 => String::new(),
            count => format!(" ({count} times)"),
        };
        let holder = relative_place(project, &outdated.holder);
        format!("- {said} in {holder}{times}{}\n", means.unwrap_or_default())
    };
    let lines: String = links.iter().take(MAX_NAMED).map(line).collect();
    format!("{lines}{}", more_line(links.len()))
}

/// Writes a place relative to a project: its own notes without the project.
fn relative_place(project: &ProjectName, place: &NoteLocation) -> String {
    if place.project == *project {
        place.path.to_string()
    } else {
        // `work/Plan.md` could be a path of this project.
        format!("{} of project {}", place.path, place.project)
    }
}

/// Writes how many items are not listed.
pub(super) fn more_line(all: usize) -> String {
    match all.saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!("- … and {more} more\n"),
    }
}

/// Adds links to a structured result.
pub(super) fn add_links(structured: &mut Value, project: &ProjectName, links: &[OutdatedLink]) {
    let entry = |outdated: &OutdatedLink| {
        let (LinkText::Name(said) | LinkText::Path(said)) = &outdated.link;
        let holder = &outdated.holder;
        let mut link = json!({ "file_path": holder.path.as_str(), "link": said });
        if holder.project != *project {
            link["project"] = json!(holder.project.as_str());
        }
        if outdated.direction == LinkDirection::Outgoing {
            link["own"] = json!(true);
        }
        if outdated.count > 1 {
            link["count"] = json!(outdated.count);
        }
        if let Some(other) = &outdated.means {
            link["means"] = json!(other.path.as_str());
            if other.project != *project {
                link["means_project"] = json!(other.project.as_str());
            }
        }
        link
    };
    structured["outdated_links_left_out"] = json!(links.len().saturating_sub(MAX_LISTED));
    structured["outdated_links"] = links.iter().take(MAX_LISTED).map(entry).collect();
}
