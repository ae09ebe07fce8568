//! Resources beside the notes themselves: addresses that other memory servers taught clients.

use memoranda_engine::{Memory, Result};

use crate::settings::Settings;
use crate::tool::Toolset;

/// One resource, or a family of them.
pub struct ResourceDef {
    /// Its address, such as `memory://knowledge-graph`; with `{name}` in it, a template.
    pub uri: &'static str,
    /// Its name on the wire.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it holds.
    pub description: &'static str,
    /// The kind of text it is.
    pub mime: &'static str,
    /// The set that it belongs to.
    pub toolset: Toolset,
    /// Reads it, given what stands in the address for each `{name}` in turn; `None` if there is
    /// no such thing. A kind that is no text is read in base64.
    pub read: fn(&Memory, &Settings, &[&str]) -> Result<Option<String>>,
}

impl ResourceDef {
    /// Whether its address has places to fill in.
    pub fn is_template(&self) -> bool {
        self.uri.contains('{')
    }

    /// What stands in an address for each `{name}`, if the address is one of this resource's.
    pub fn matches<'a>(&self, uri: &'a str) -> Option<Vec<&'a str>> {
        let mut rest = uri;
        let mut found = Vec::new();
        let mut pattern = self.uri;
        while let Some((before, after)) = pattern.split_once('{') {
            rest = rest.strip_prefix(before)?;
            let (_, after) = after.split_once('}')?;
            // A name reaches to the next literal part; the last one to the end.
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
    fn addresses_are_taken_apart() {
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
