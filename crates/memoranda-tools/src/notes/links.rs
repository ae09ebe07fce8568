//! How links are told of that do not mean what they did.

use memoranda_core::id::ProjectName;
use memoranda_engine::{LinkText, OutdatedLink, Place, Whose, link_key};
use serde_json::{Value, json};

use crate::registry::{CallContext, count};

/// How many files or links are named in a text, and how many for programs.
pub(super) const NAMED: usize = 20;
pub(super) const LISTED: usize = 200;

/// The links as far as the caller may know of them: to a server that is held to one project, what
/// lies elsewhere is as if it were not there.
pub(super) fn known(call: &CallContext<'_>, links: Vec<OutdatedLink>) -> Vec<OutdatedLink> {
    let Some(only) = call.settings.notes.only_project.as_deref().map(link_key) else {
        return links;
    };
    let is_known = |place: &Place| link_key(place.project.as_str()) == only;
    let links = links.into_iter().filter(|link| is_known(&link.holder));
    links.map(|link| OutdatedLink { means: link.means.filter(is_known), ..link }).collect()
}

/// So many links: each as often as it is written.
pub(super) fn counted<'l>(links: impl IntoIterator<Item = &'l OutdatedLink>) -> String {
    count(links.into_iter().map(|link| link.count).sum(), "link")
}

/// Names links, a line each, as seen from a project.
pub(super) fn named(project: &ProjectName, links: &[&OutdatedLink]) -> String {
    let line = |outdated: &&OutdatedLink| {
        let said = match &outdated.link {
            LinkText::Name(name) => format!("[[{name}]]"),
            LinkText::Path(path) => format!("({path})"),
        };
        let means = outdated.means.as_ref().map(|other| format!(" means {}", seen(project, other)));
        let times = match outdated.count {
            ..=1 => String::new(),
            count => format!(" ({count} times)"),
        };
        let holder = seen(project, &outdated.holder);
        format!("- {said} in {holder}{times}{}\n", means.unwrap_or_default())
    };
    let lines: String = links.iter().take(NAMED).map(line).collect();
    format!("{lines}{}", rest(links.len()))
}

/// A place as it is called in a project: its own notes need not say which.
fn seen(project: &ProjectName, place: &Place) -> String {
    match place.project == *project {
        true => place.path.to_string(),
        // `work/Plan.md` could be a path of this project.
        false => format!("{} of project {}", place.path, place.project),
    }
}

/// Says how many are not named of so many.
pub(super) fn rest(all: usize) -> String {
    match all.saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("- … and {more} more\n"),
    }
}

/// Links for programs, put into what they are told.
pub(super) fn list(structured: &mut Value, project: &ProjectName, links: &[OutdatedLink]) {
    let entry = |outdated: &OutdatedLink| {
        let (LinkText::Name(said) | LinkText::Path(said)) = &outdated.link;
        let holder = &outdated.holder;
        let mut link = json!({ "file_path": holder.path.as_str(), "link": said });
        if holder.project != *project {
            link["project"] = json!(holder.project.as_str());
        }
        if outdated.whose == Whose::Its {
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
    structured["outdated_links_left_out"] = json!(links.len().saturating_sub(LISTED));
    structured["outdated_links"] = links.iter().take(LISTED).map(entry).collect();
}
