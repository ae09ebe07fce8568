//! `recall`.

use jiff::{Timestamp, Zoned};
use memoranda_core::timeframe::{TimeframeError, parse_timeframe, parse_until};
use memoranda_core::token_estimate::estimate_tokens;
use memoranda_engine::recall::{
    RECALL_TOKENS, RecallAnswer, RecallRequest, RecalledPassage, RecalledSubject, recall,
};
use serde_json::{Value, json};

use super::arguments;
use super::nearest::NEAREST_HEADING;
use crate::registry::{
    BY_WORDS_ALONE, CallContext, INVALID_ARGUMENTS, ToolArgs, ToolError, ToolResult,
};

/// Parses a time relative to now.
type TimeParser = fn(&str, &Zoned) -> Result<Timestamp, TimeframeError>;

pub(super) fn run(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let (mut answers, mut failed, mut asked) = (Vec::new(), None, None);
    for (space, single) in call.in_each_space() {
        match recall_in(&single, args) {
            Ok((request, answer)) => {
                answers.push((space, answer));
                asked.get_or_insert(request);
            }
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    match (asked, failed) {
        // A project that one of several spaces lacks is no error.
        (Some(request), _) => {
            Ok(fitting_answer(RecallAnswer::joined(answers, request.max_tokens), &request))
        }
        (None, Some(error)) => Err(error),
        (None, None) => Ok(ToolResult::error("There is nothing to search.")),
    }
}

/// Renders passages until their text or their structure would exceed the budget. The first passage is
/// always part of the answer, cut if necessary.
fn fitting_answer(mut answer: RecallAnswer, request: &RecallRequest) -> ToolResult {
    loop {
        let (text, structure) = (answer_text(&answer, request), answer_json(&answer, request));
        let tokens = estimate_tokens(&text).max(estimate_tokens(&structure.to_string()));
        let excess = tokens.saturating_sub(request.max_tokens);
        let is_cut = match answer.passages.as_mut_slice() {
            [only] if excess > 0 => only.cut_by(excess),
            [_, .., _] if excess > 0 => {
                answer.passages.pop();
                answer.left_out += 1;
                true
            }
            _ if excess > 0 => answer.nearest.pop().is_some(),
            _ => false,
        };
        if !is_cut {
            return ToolResult::ok(text, structure);
        }
    }
}

/// Recalls from one vault.
fn recall_in(
    call: &CallContext<'_>,
    args: &ToolArgs,
) -> Result<(RecallRequest, RecallAnswer), ToolError> {
    let query = args.optional_text("query")?.filter(|query| !query.trim().is_empty());
    let max_tokens = args.optional_integer("max_tokens")?;
    let now = call.settings.records.now();
    let time = |name: &str, parse: TimeParser| -> Result<Option<Timestamp>, ToolError> {
        let Some(text) = args.optional_text(name)? else { return Ok(None) };
        parse(&text, &now).map(Some).map_err(|error| {
            ToolError::new(INVALID_ARGUMENTS, format!("`{name}` is {text:?}: {error}."))
        })
    };
    let request = RecallRequest {
        max_tokens: max_tokens.unwrap_or(RECALL_TOKENS),
        kinds: arguments::kinds(args)?,
        project: arguments::only_project(call, args.optional_text("project")?.as_deref())?,
        since: time("since", parse_timeframe)?,
        as_of: time("as_of", parse_until)?,
        min_relevance: args.optional_decimal("min_relevance")?,
        ..RecallRequest::new(query, arguments::scopes(call, args)?)
    };
    let answer = recall(call.memory, &request).map_err(arguments::record_error)?;
    Ok((request, answer))
}

fn answer_text(answer: &RecallAnswer, request: &RecallRequest) -> String {
    let now = memoranda_engine::clock::now();
    let mut text = String::new();
    if answer.passages.is_empty() {
        text.push_str(match request.query {
            Some(_) => "Nothing relevant is known.\n",
            None => "Nothing is known yet about the person or this repository.\n",
        });
        if !answer.nearest.is_empty() {
            text.push_str(NEAREST_HEADING);
        }
        for passage in &answer.nearest {
            text.push_str(&passage_text(passage, now));
        }
        if request.query.is_some() {
            text.push_str(
                "[Without a query, recall tells what is known about the person and this repository.]\n",
            );
        }
    }
    let mut subject = None;
    for passage in &answer.passages {
        if passage.subject != subject {
            subject = passage.subject;
            text.push_str(match subject {
                Some(RecalledSubject::Person) => "## The Person\n",
                Some(RecalledSubject::Everywhere) => "## Everywhere\n",
                Some(RecalledSubject::Repository) => "## This Repository\n",
                None => "",
            });
        }
        text.push_str(&passage_text(passage, now));
    }
    if answer.left_out > 0 {
        let mut more = json!({ "max_tokens": request.max_tokens * 2 });
        if let Some(query) = &request.query {
            more["query"] = json!(query);
        }
        text.push_str(&format!("[{} more did not fit: recall {more}]\n", answer.left_out));
    }
    for correction in &answer.corrections {
        let (typed, meant) = (&correction.typed, &correction.meant);
        text.push_str(&format!("[No text has {typed:?}; searched for {meant:?}.]\n"));
    }
    if answer.is_by_words_alone {
        text.push_str(BY_WORDS_ALONE);
    }
    text.truncate(text.trim_end().len());
    text
}

/// Renders a passage: the text as a list item, then its source.
fn passage_text(passage: &RecalledPassage, now: Timestamp) -> String {
    item_text(&passage_json(passage), now)
}

/// Renders the structure of a passage: the text as a list item, then its source.
pub(super) fn item_text(item: &Value, now: Timestamp) -> String {
    let said = |key: &str| item[key].as_str();
    let mut lines = said("text").unwrap_or_default().lines();
    // A list item needs no second mark; further items are within it.
    let first = lines.next().unwrap_or_default();
    let first = first.strip_prefix("- ").unwrap_or(first);
    let mut text = format!("- {first}\n");
    for line in lines {
        text.push_str(if line.is_empty() { "\n" } else { "  " });
        if !line.is_empty() {
            text.push_str(line);
            text.push('\n');
        }
    }
    let mut source: Vec<String> = said("kind").map(str::to_owned).into_iter().collect();
    source.extend(said("id").map(|id| format!("id {id}")));
    source.extend(said("repository").map(|repository| format!("of {repository}")));
    let places = item["places"].as_array().into_iter().flatten().filter_map(Value::as_str);
    source.push(places.collect::<Vec<_>>().join(", "));
    source.extend(said("space").map(|space| format!("space {space}")));
    let updated = said("updated").and_then(|time| time.parse().ok());
    source.extend(updated.map(|updated| age_text(updated, now)));
    source.extend(said("author").map(|author| format!("by {author}")));
    source.extend(item["relevance"].as_f64().map(|found| format!("relevance {found:.2}")));
    text.push_str(&format!("  ({})\n", source.join(" · ")));
    text
}

/// Renders the age of a passage in its largest unit.
fn age_text(updated: Timestamp, now: Timestamp) -> String {
    let minutes = now.duration_since(updated).as_mins().max(0);
    let (count, unit) = match minutes {
        0..60 => (minutes, "minute"),
        60..1_440 => (minutes / 60, "hour"),
        1_440..86_400 => (minutes / 1_440, "day"),
        _ => return updated.strftime("%Y-%m-%d").to_string(),
    };
    if count == 0 {
        return "just now".to_owned();
    }
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

fn answer_json(answer: &RecallAnswer, request: &RecallRequest) -> Value {
    let passages: Vec<Value> = answer.passages.iter().map(passage_json).collect();
    let mut json = json!({
        "query": request.query,
        "count": passages.len(),
        "passages": passages,
        "left_out": answer.left_out,
    });
    if !answer.nearest.is_empty() {
        json["nearest"] = answer.nearest.iter().map(passage_json).collect();
    }
    if answer.is_by_words_alone {
        json["by_words_alone"] = json!(true);
    }
    json
}

pub(super) fn passage_json(passage: &RecalledPassage) -> Value {
    let places: Vec<String> = passage.places.iter().map(ToString::to_string).collect();
    let mut json = json!({
        "text": passage.text,
        "kind": passage.kind.as_str(),
        "places": places,
        "updated": passage.updated.to_string(),
    });
    let mut add = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            json[key] = value;
        }
    };
    add("id", passage.id.clone().map(Value::String));
    add("title", Some(&passage.title).filter(|title| !title.is_empty()).map(|title| json!(title)));
    add("lines", Some(&passage.lines).filter(|lines| !lines.is_empty()).map(|lines| json!(lines)));
    add("repository", passage.repository.clone().map(Value::String));
    add("space", passage.space.clone().map(Value::String));
    add("author", passage.author.clone().map(Value::String));
    add("relevance", passage.relevance.map(|relevance| json!((relevance * 100.0).round() / 100.0)));
    add(
        "about",
        passage.subject.map(|subject| match subject {
            RecalledSubject::Person => json!("person"),
            RecalledSubject::Everywhere => json!("everywhere"),
            RecalledSubject::Repository => json!("repository"),
        }),
    );
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_one_unit() {
        let now: Timestamp = "2026-06-15T12:00:00Z".parse().unwrap();
        for (time, expected) in [
            ("2026-06-15T11:59:40Z", "just now"),
            ("2026-06-15T12:10:00Z", "just now"),
            ("2026-06-15T11:59:00Z", "1 minute ago"),
            ("2026-06-15T10:00:00Z", "2 hours ago"),
            ("2026-06-12T10:00:00Z", "3 days ago"),
            ("2025-06-12T10:00:00Z", "2025-06-12"),
        ] {
            assert_eq!(age_text(time.parse().unwrap(), now), expected, "{time}");
        }
    }
}
