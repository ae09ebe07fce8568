//! Rules that every row of the tables follows.

use std::collections::BTreeSet;

use memoranda_tools::{ToolDef, ToolSettings, prompts, resources, tools};
use serde_json::Value;

fn is_snake_case(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
}

fn check_tool(tool: &ToolDef) {
    let name = tool.name;
    assert!(is_snake_case(name) && name.len() <= 40, "{name}");
    assert!(!tool.title.trim().is_empty(), "{name}");
    assert!((1..=2048).contains(&tool.description.len()), "{name}: {}", tool.description.len());
    assert!(!(tool.hints.read_only && tool.hints.destructive), "{name} reads and destroys");
    assert!(tool.max_chars > 0, "{name}");
    let (input, output) = (tool.input_schema(&ToolSettings::standard()), (tool.output)());
    for (schema, what) in [(&input, "input"), (&output, "output")] {
        assert_eq!(schema["type"], "object", "{name} {what}");
        for word in ["anyOf", "oneOf", "allOf", "$ref", "enum", "not"] {
            assert!(schema.get(word).is_none(), "{name} {what}: {word} at the root");
        }
    }
    assert_eq!(input["additionalProperties"], false, "{name}");
    assert!(!input.to_string().contains("\"anyOf\""), "{name}: clients do not support anyOf");
    let properties = input["properties"].as_object();
    for (property, schema) in properties.into_iter().flatten() {
        let described = schema["description"].as_str().is_some_and(|text| !text.trim().is_empty());
        assert!(described, "{name} {property}: no description");
        let typed =
            ["type", "enum", "anyOf", "oneOf"].iter().any(|word| schema.get(word).is_some());
        assert!(typed, "{name} {property}: no type");
    }
    for required in input["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let known = properties.is_some_and(|properties| properties.contains_key(required));
        assert!(known, "{name}: {required} is required and unknown");
    }
}

#[test]
fn every_tool_has_all_fields_of_a_definition() {
    tools().for_each(check_tool);
}

#[test]
fn every_prompt_and_resource_has_a_description() {
    for prompt in prompts() {
        let name = prompt.name;
        assert!(is_snake_case(name) && name.len() <= 40, "{name}");
        assert!(!prompt.title.is_empty() && !prompt.description.is_empty(), "{name}");
        for argument in prompt.arguments {
            assert!(!argument.name.is_empty(), "{name}");
            assert!(!argument.description.is_empty(), "{name} {}", argument.name);
        }
    }
    for resource in resources() {
        let uri = resource.uri;
        assert!(uri.split_once("://").is_some_and(|(scheme, _)| is_snake_case(scheme)), "{uri}");
        assert!(!uri.starts_with("memoranda://"), "{uri} would be taken for a note");
        assert!(!resource.name.is_empty() && !resource.title.is_empty(), "{uri}");
        assert!(!resource.description.is_empty() && resource.mime.contains('/'), "{uri}");
    }
}

#[test]
fn names_are_unique() {
    let mut seen = BTreeSet::new();
    let tools = tools().map(|tool| ("tool", tool.name));
    let prompts = prompts().map(|prompt| ("prompt", prompt.name));
    let addresses = resources().map(|resource| ("address", resource.uri));
    let names = resources().map(|resource| ("resource", resource.name));
    for name in tools.chain(prompts).chain(addresses).chain(names) {
        assert!(seen.insert(name), "{name:?} is there twice");
    }
}

#[test]
fn every_set_with_prompts_or_resources_has_tools() {
    let sets: BTreeSet<_> = tools().map(|tool| tool.toolset).collect();
    for prompt in prompts() {
        assert!(sets.contains(&prompt.toolset), "{}", prompt.name);
    }
    for resource in resources() {
        assert!(sets.contains(&resource.toolset), "{}", resource.uri);
    }
}
