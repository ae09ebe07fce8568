//! Fixed resources besides the notes, under the addresses that clients of other memory servers use.

use memoranda_engine::{Memory, Result};

use super::tool::Toolset;
use crate::settings::ToolSettings;

/// One resource, or a template of resources.
pub struct ResourceDef {
    /// Address such as `memory://knowledge-graph`; with `{name}` in it, a template.
    pub uri: &'static str,
    /// Name on the wire.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Content of the resource.
    pub description: &'static str,
    /// MIME type.
    pub mime: &'static str,
    /// Toolset that the resource belongs to.
    pub toolset: Toolset,
    /// Reads the resource, given the address's value of each `{name}` in order. `None` if there is
    /// no such resource. Binary content is returned in base64.
    pub read: fn(&Memory, &ToolSettings, &[&str]) -> Result<Option<String>>,
}

impl ResourceDef {
    /// Returns true if the address contains placeholders.
    pub fn is_template(&self) -> bool {
        self.uri.contains('{')
    }

    /// Returns the value of each `{name}`. `None` if the address does not match.
    pub fn matches<'a>(&self, uri: &'a str) -> Option<Vec<&'a str>> {
        let mut rest = uri;
        let mut found = Vec::new();
        let mut pattern = self.uri;
        while let Some((before, after)) = pattern.split_once('{') {
            rest = rest.strip_prefix(before)?;
            let (_, after) = after.split_once('}')?;
            // A placeholder ends at the next literal part, the last placeholder at the end.
            let literal = after.split('{').next().unwrap_or_default();
            let end = if literal.is_empty() { rest.len() } else { rest.find(literal)? };
            found.push(rest.get(..end).filter(|value| !value.is_empty())?);
            rest = rest.get(end..)?;
            pattern = after;
        }
        (rest == pattern).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_matched_against_templates() {
        let def = |uri| ResourceDef {
            uri,
            name: "x",
            title: "X",
            description: "x",
            mime: "text/plain",
            toolset: Toolset::Notes,
            read: |_, _, _| Ok(None),
        };
        let plain = def("memory://guide");
        assert!(!plain.is_template());
        assert_eq!(plain.matches("memory://guide"), Some(vec![]));
        assert_eq!(plain.matches("memory://guides"), None);
        let info = def("memory://{workspace}/{project}/info");
        assert!(info.is_template());
        assert_eq!(info.matches("memory://local/main/info"), Some(vec!["local", "main"]));
        assert_eq!(info.matches("memory://local//info"), None);
        assert_eq!(info.matches("memory://local/main"), None);
        let tail = def("memories://project/{id}");
        assert_eq!(tail.matches("memories://project/github.com/a/b"), Some(vec!["github.com/a/b"]));
    }
}
