//! The page's part of the route table.

use super::{
    PageEndpoint, PageHandler, agents, brief, care, contradictions, facts, history, machine, map,
    note, now, rules, search, status, undo, way_in, write,
};
use crate::api::{HttpRoute, RouteAccess, RouteEndpoint, RouteParameter};

const fn shell(path: &'static str, summary: &'static str) -> HttpRoute {
    HttpRoute {
        method: "GET",
        path,
        summary,
        access: RouteAccess::Shell,
        parameters: &[],
        endpoint: RouteEndpoint::Page(PageEndpoint::BuiltFile),
    }
}

const fn reads(
    path: &'static str,
    summary: &'static str,
    parameters: &'static [RouteParameter],
    handler: PageHandler,
) -> HttpRoute {
    HttpRoute {
        method: "GET",
        path,
        summary,
        access: RouteAccess::Session,
        parameters,
        endpoint: RouteEndpoint::Page(PageEndpoint::Reads(handler)),
    }
}

const fn writes(
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    parameters: &'static [RouteParameter],
    handler: PageHandler,
) -> HttpRoute {
    HttpRoute {
        method,
        path,
        summary,
        access: RouteAccess::Session,
        parameters,
        endpoint: RouteEndpoint::Page(PageEndpoint::Writes(handler)),
    }
}

const fn optional(name: &'static str, kind: &'static str, summary: &'static str) -> RouteParameter {
    RouteParameter { name, kind, summary, is_required: false }
}

const fn required(name: &'static str, kind: &'static str, summary: &'static str) -> RouteParameter {
    RouteParameter { name, kind, summary, is_required: true }
}

const PROJECT: RouteParameter = optional("project", "string", "only this project");
const OF_PROJECT: RouteParameter = required("project", "string", "the project of the note");
const PATH: RouteParameter = required("path", "string", "the path of the note in its project");
const AT: RouteParameter = optional("at", "string", "a commit or a time; now if absent");
const LIMIT: RouteParameter = optional("limit", "integer", "number of items, 1 to 200");
const CURSOR: RouteParameter = optional("cursor", "string", "`next` of the page before");
const EXPECTED: RouteParameter =
    required("expected", "string", "the hash that the change is based on; null for a new file");
const COMMITS: RouteParameter = optional("commits", "array", "ids of commits");
const CONVERSATION: RouteParameter =
    optional("conversation", "string", "id of a conversation: all its writes");

/// Routes of the page.
pub(crate) const PAGE_ROUTES: &[HttpRoute] = &[
    shell("/", "the web page"),
    shell("/page.js", "script of the page"),
    shell("/page.css", "style of the page"),
    shell("/places.js", "script of the places that are opened later"),
    shell("/places.css", "style of the places that are opened later"),
    shell("/icon.svg", "icon of the page"),
    HttpRoute {
        access: RouteAccess::Public,
        ..reads("/api/page/way-in", "how people come in", &[], way_in::way_in)
    },
    HttpRoute {
        method: "POST",
        path: "/api/page/code",
        summary: "make a one-time code, for `memoranda open`",
        access: RouteAccess::Token,
        parameters: &[],
        endpoint: RouteEndpoint::Page(PageEndpoint::Reads(way_in::issue_code)),
    },
    HttpRoute {
        method: "POST",
        path: "/api/page/session",
        summary: "exchange a one-time code, or the server's token, for a session",
        access: RouteAccess::Public,
        parameters: &[
            optional("code", "string", "the one-time code"),
            optional("token", "string", "the server's token"),
        ],
        endpoint: RouteEndpoint::Page(PageEndpoint::Reads(way_in::open_session)),
    },
    reads("/api/page/status", "the vault, its projects and counts", &[], status::status),
    HttpRoute {
        method: "GET",
        path: "/api/page/events",
        summary: "changes as they happen, as server-sent events",
        access: RouteAccess::Session,
        parameters: &[optional("after", "string", "the last commit that is known")],
        endpoint: RouteEndpoint::Page(PageEndpoint::Events),
    },
    reads(
        "/api/page/now",
        "changes since a commit or a time, by agent and conversation",
        &[
            optional("since", "string", "a commit or a time; the last day if absent"),
            PROJECT,
            optional("agent", "string", "only this agent"),
            LIMIT,
            CURSOR,
        ],
        now::now,
    ),
    reads(
        "/api/page/activity",
        "number of writes by day and agent",
        &[optional("days", "integer", "number of days; 182 if absent"), PROJECT],
        now::activity,
    ),
    reads(
        "/api/page/search",
        "search, with the reasons of each hit",
        &[
            optional("q", "string", "the words"),
            PROJECT,
            optional("tag", "string", "only notes with this tag; may be repeated"),
            optional("type", "string", "only notes of this type; may be repeated"),
            optional("agent", "string", "only notes that this agent wrote last"),
            optional("since", "string", "only notes changed since this time"),
            optional("until", "string", "only notes changed until this time"),
            optional("past", "boolean", "find facts that were replaced, too"),
            optional("nearest", "boolean", "if nothing is likely, the nearest notes"),
            LIMIT,
            CURSOR,
        ],
        search::search,
    ),
    reads(
        "/api/page/search/agent",
        "the answer that an agent gets for the same words",
        &[required("q", "string", "the words"), PROJECT],
        search::as_the_agent_gets_it,
    ),
    reads(
        "/api/page/complete",
        "notes whose name contains some words",
        &[optional("q", "string", "the beginning of a name"), PROJECT, LIMIT],
        search::complete,
    ),
    reads(
        "/api/page/note",
        "a note as a tree, now or at a moment",
        &[
            optional("project", "string", "the project of the note"),
            optional("path", "string", "the path of the note in its project"),
            optional("name", "string", "the name in a link, instead of project and path"),
            optional("from_project", "string", "the project of the note with that link"),
            AT,
            optional("reveal", "boolean", "show secrets; this is logged"),
        ],
        note::note,
    ),
    reads(
        "/api/page/note/around",
        "links, links to the note with their sentences, mentions, and the local graph",
        &[OF_PROJECT, PATH, optional("depth", "integer", "depth of the graph, 1 to 3")],
        note::around,
    ),
    reads(
        "/api/page/note/versions",
        "versions of a note, newest first",
        &[OF_PROJECT, PATH, LIMIT, CURSOR],
        history::versions,
    ),
    reads(
        "/api/page/note/blame",
        "who wrote each line of a note",
        &[OF_PROJECT, PATH, AT],
        history::blame,
    ),
    reads(
        "/api/page/note/diff",
        "differences of a note between two moments",
        &[
            OF_PROJECT,
            PATH,
            required("from", "string", "a commit or a time"),
            optional("to", "string", "a commit or a time; now if absent"),
        ],
        history::note_diff,
    ),
    writes(
        "PUT",
        "/api/page/note",
        "save a note, if it is still the version that the text began as",
        &[
            OF_PROJECT,
            PATH,
            required("text", "string", "the whole text"),
            EXPECTED,
            optional("merge", "boolean", "write the merged text if nothing collides"),
            optional("message", "string", "one line for the history"),
        ],
        write::save,
    ),
    writes(
        "POST",
        "/api/page/note/delete",
        "delete a note; the history keeps it",
        &[OF_PROJECT, PATH, EXPECTED],
        write::delete,
    ),
    writes(
        "POST",
        "/api/page/note/restore",
        "bring back a deleted note, or an earlier version",
        &[OF_PROJECT, PATH, AT],
        write::restore,
    ),
    writes(
        "POST",
        "/api/page/note/move",
        "move a note within its project",
        &[OF_PROJECT, PATH, required("to", "string", "the new path")],
        write::move_note,
    ),
    HttpRoute {
        method: "POST",
        ..reads(
            "/api/page/preview",
            "a text as a tree, without saving it",
            &[required("text", "string", "the text")],
            note::preview,
        )
    },
    HttpRoute {
        method: "GET",
        path: "/api/page/file",
        summary: "bytes of a file: pictures as such, anything else as an attachment",
        access: RouteAccess::Session,
        parameters: &[OF_PROJECT, PATH],
        endpoint: RouteEndpoint::Page(PageEndpoint::FileBytes),
    },
    reads(
        "/api/page/history",
        "commits, newest first",
        &[
            PROJECT,
            optional("path", "string", "only this file or folder"),
            optional("agent", "string", "only this agent"),
            optional("client", "string", "only this client"),
            optional("tool", "string", "only this tool"),
            optional("channel", "string", "only this channel"),
            optional("since", "string", "nothing before this time"),
            optional("until", "string", "nothing after this time"),
            LIMIT,
            CURSOR,
        ],
        history::history,
    ),
    reads(
        "/api/page/history/commit",
        "one commit with its differences",
        &[required("id", "string", "id of the commit")],
        history::commit,
    ),
    reads(
        "/api/page/history/conversation",
        "all commits of the conversation of a commit",
        &[required("id", "string", "id of a commit")],
        history::conversation,
    ),
    reads(
        "/api/page/history/compare",
        "files that differ between two moments",
        &[
            required("from", "string", "a commit or a time"),
            optional("to", "string", "a commit or a time; now if absent"),
            PROJECT,
            LIMIT,
            CURSOR,
        ],
        history::compare,
    ),
    reads(
        "/api/page/deleted",
        "deleted notes, the last deleted first",
        &[PROJECT, LIMIT, CURSOR],
        history::deleted,
    ),
    HttpRoute {
        method: "GET",
        path: "/api/page/map",
        summary: "every note as a point, in columns",
        access: RouteAccess::Session,
        parameters: &[PROJECT],
        endpoint: RouteEndpoint::Page(PageEndpoint::Map),
    },
    reads(
        "/api/page/map/titles",
        "titles of points",
        &[required("ids", "string", "numbers of points, with commas; at most 500")],
        map::titles,
    ),
    reads(
        "/api/page/map/links",
        "links of points",
        &[required("ids", "string", "numbers of points, with commas; at most 500")],
        map::links,
    ),
    HttpRoute {
        method: "POST",
        ..reads(
            "/api/page/undo/preview",
            "what an undo would do",
            &[COMMITS, CONVERSATION],
            undo::preview,
        )
    },
    writes(
        "POST",
        "/api/page/undo",
        "undo one commit, several, or a whole conversation, as one commit",
        &[COMMITS, CONVERSATION],
        undo::undo,
    ),
    reads(
        "/api/page/facts",
        "facts in force, with their versions",
        &[
            optional("q", "string", "only facts with this text"),
            PROJECT,
            optional("category", "string", "only facts of this category"),
            AT,
            LIMIT,
            CURSOR,
        ],
        facts::facts,
    ),
    reads(
        "/api/page/facts/contradictions",
        "pairs of memories in force that cannot both hold",
        &[PROJECT, LIMIT, CURSOR],
        contradictions::contradictions,
    ),
    writes(
        "POST",
        "/api/page/facts/decide",
        "decide which memory of a contradiction holds; the other is marked as superseded",
        &[
            required("id", "string", "the contradiction"),
            required("holds", "string", "`newer` or `older`"),
        ],
        contradictions::decide,
    ),
    reads("/api/page/rules", "rules by scope, now or at a moment", &[AT], rules::rules),
    reads(
        "/api/page/rules/files",
        "the files that the rules of a scope become",
        &[required("scope", "string", "the scope: `global`, or a repository")],
        rules::rule_files,
    ),
    reads("/api/page/reminders", "reminders, due ones first", &[], rules::reminders),
    writes(
        "POST",
        "/api/page/reminders/done",
        "mark a due reminder as done",
        &[required("id", "string", "the reminder")],
        rules::end_reminder,
    ),
    reads(
        "/api/page/agents",
        "agents, and the tools that they are offered",
        &[optional("days", "integer", "number of days of `writes`; 7 if absent"), PROJECT],
        agents::agents,
    ),
    reads(
        "/api/page/brief",
        "the brief that a client gets at the start of a conversation",
        &[
            optional("client", "string", "the client"),
            optional("folder", "string", "the folder that the client works in"),
            optional("q", "string", "the subject of the conversation"),
        ],
        brief::client_brief,
    ),
    reads(
        "/api/page/care",
        "checks, and the lengths of the work lists",
        &[PROJECT, optional("doctor", "boolean", "check everything, as `memoranda doctor` does")],
        care::care,
    ),
    reads(
        "/api/page/care/list",
        "a work list: stale, duplicates, orphans, dead_links, secrets or unreadable",
        &[required("name", "string", "the list"), PROJECT, LIMIT, CURSOR],
        care::work_list,
    ),
    reads("/api/page/settings", "settings and their origins", &[], machine::settings),
    writes(
        "POST",
        "/api/page/settings",
        "change a setting in the configuration file; a new server uses it",
        &[
            required("key", "string", "the setting"),
            required("value", "string", "its value; null removes it from the file"),
        ],
        machine::change_setting,
    ),
    reads(
        "/api/page/setup",
        "clients of this machine, with the difference of each possible change",
        &[],
        machine::clients,
    ),
    writes(
        "POST",
        "/api/page/setup",
        "write a change of a client's files, if it is still the shown one",
        &[
            required("client", "string", "name of the client"),
            required("action", "string", "`connect`, `connect_with_hooks` or `disconnect`"),
            required("digest", "string", "`digest` of the shown change"),
        ],
        machine::change_client,
    ),
    writes(
        "POST",
        "/api/page/import/upload",
        "append parts of files to an upload",
        &[
            optional("upload", "string", "the upload; a new one if absent"),
            required(
                "parts",
                "objects",
                "path, offset, modified, and data in Base64, of each part",
            ),
        ],
        machine::stage_upload,
    ),
    writes(
        "POST",
        "/api/page/import/plan",
        "what an upload would bring, without a change",
        &[required("upload", "string", "the upload"), PROJECT],
        machine::plan_import,
    ),
    writes(
        "POST",
        "/api/page/import",
        "bring an upload",
        &[required("upload", "string", "the upload"), PROJECT],
        machine::import_upload,
    ),
    writes(
        "POST",
        "/api/page/import/discard",
        "delete an upload",
        &[required("upload", "string", "the upload")],
        machine::discard_upload,
    ),
    HttpRoute {
        method: "GET",
        path: "/api/page/export",
        summary: "the vault or a project as a file",
        access: RouteAccess::Session,
        parameters: &[
            optional("form", "string", "`archive`, `jsonl` or `mcp-memory`; `archive` if absent"),
            PROJECT,
        ],
        endpoint: RouteEndpoint::Page(PageEndpoint::Export),
    },
    reads(
        "/api/page/vacuum",
        "what a vacuum would purge, without a change",
        &[
            optional("days", "integer", "age of the deletion in days; 30 if absent"),
            optional("versions", "boolean", "earlier versions of existing notes, too"),
            PROJECT,
        ],
        machine::plan_vacuum,
    ),
    writes(
        "POST",
        "/api/page/vacuum",
        "purge what was shown; nothing brings it back",
        &[
            required("before", "string", "`before` of the shown plan"),
            required("contents", "integer", "`contents` of the shown plan"),
            optional("versions", "boolean", "earlier versions of existing notes, too"),
            PROJECT,
        ],
        machine::vacuum,
    ),
    writes("POST", "/api/page/redo", "make the commit again that was undone last", &[], undo::redo),
];
