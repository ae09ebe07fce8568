//! The parameter table of a tool. One list yields the input schema, the limits and defaults of the
//! reader, the aliases, and the check for unknown parameters.

use serde_json::{Map, Value, json};

use crate::settings::ToolSettings;

/// One parameter of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    pub(super) name: &'static str,
    pub(super) kind: ParamKind,
    pub(super) default: Option<ParamDefault>,
    pub(super) aliases: &'static [&'static str],
    pub(super) visibility: ParamVisibility,
    description: &'static str,
    is_required: bool,
    keeps_empty: bool,
    hides_max: bool,
    shows_default: bool,
    min_chars: Option<usize>,
    max_chars: Option<usize>,
    min_items: Option<usize>,
    pub(super) aliases_agree: bool,
}

/// Type and limits of a parameter.
#[derive(Clone, Copy, Debug)]
pub(super) enum ParamKind {
    Text,
    Choice(&'static [&'static str]),
    Flag,
    Integer {
        min: u64,
        max: u64,
    },
    Decimal {
        min: f64,
        max: f64,
    },
    Texts,
    Object,
    Objects,
    /// A list of objects with parameters of their own.
    Items(&'static ItemTable),
    /// Any other JSON schema, such as one whose limits are configured.
    Schema(fn(&ToolSettings) -> Value),
}

/// Value of a parameter that is absent.
#[derive(Clone, Copy, Debug)]
pub(super) enum ParamDefault {
    Integer(u64),
    Decimal(f64),
    Flag(bool),
    Word(&'static str),
}

impl ParamDefault {
    fn to_json(self) -> Value {
        match self {
            Self::Integer(number) => json!(number),
            Self::Decimal(number) => json!(number),
            Self::Flag(flag) => json!(flag),
            Self::Word(word) => json!(word),
        }
    }
}

/// Visibility of a parameter to clients.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ParamVisibility {
    /// Part of the input schema.
    Listed,
    /// Accepted and used, but not part of the input schema.
    Hidden,
    /// Accepted without effect, because clients of other servers send it. The result says so.
    Ignored,
}

impl Param {
    const fn new(name: &'static str, kind: ParamKind, description: &'static str) -> Self {
        Self {
            name,
            kind,
            default: None,
            aliases: &[],
            visibility: ParamVisibility::Listed,
            description,
            is_required: false,
            keeps_empty: false,
            hides_max: false,
            shows_default: false,
            min_chars: None,
            max_chars: None,
            min_items: None,
            aliases_agree: false,
        }
    }

    /// A text.
    pub const fn text(name: &'static str, description: &'static str) -> Self {
        Self::new(name, ParamKind::Text, description)
    }

    /// One of several words.
    pub const fn choice(
        name: &'static str,
        words: &'static [&'static str],
        description: &'static str,
    ) -> Self {
        Self::new(name, ParamKind::Choice(words), description)
    }

    /// True or false. Absent means false, unless [`Self::default_flag`] says otherwise.
    pub const fn flag(name: &'static str, description: &'static str) -> Self {
        Self::new(name, ParamKind::Flag, description)
    }

    /// A whole number within limits.
    pub const fn integer(
        name: &'static str,
        min: u64,
        max: u64,
        description: &'static str,
    ) -> Self {
        Self::new(name, ParamKind::Integer { min, max }, description)
    }

    /// A number within limits.
    pub const fn decimal(
        name: &'static str,
        min: f64,
        max: f64,
        description: &'static str,
    ) -> Self {
        Self::new(name, ParamKind::Decimal { min, max }, description)
    }

    /// A list of texts.
    pub const fn texts(name: &'static str, description: &'static str) -> Self {
        Self::new(name, ParamKind::Texts, description)
    }

    /// An object.
    pub const fn object(name: &'static str, description: &'static str) -> Self {
        Self::new(name, ParamKind::Object, description)
    }

    /// A list of objects.
    pub const fn objects(name: &'static str, description: &'static str) -> Self {
        Self::new(name, ParamKind::Objects, description)
    }

    /// A list of objects with parameters of their own.
    pub const fn items(
        name: &'static str,
        items: &'static ItemTable,
        description: &'static str,
    ) -> Self {
        Self::new(name, ParamKind::Items(items), description)
    }

    /// A parameter with its own JSON schema.
    pub const fn schema(
        name: &'static str,
        schema: fn(&ToolSettings) -> Value,
        description: &'static str,
    ) -> Self {
        Self::new(name, ParamKind::Schema(schema), description)
    }

    /// Lists the parameter as required.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// Accepts other names. The parameter's own name takes precedence.
    #[must_use]
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Rejects a call that gives the parameter and its other names with different values.
    #[must_use]
    pub const fn aliases_agree(mut self) -> Self {
        self.aliases_agree = true;
        self
    }

    /// Lists a minimum length of a text, in characters.
    #[must_use]
    pub const fn min_chars(mut self, chars: usize) -> Self {
        self.min_chars = Some(chars);
        self
    }

    /// Lists a maximum length of a text, in characters.
    #[must_use]
    pub const fn max_chars(mut self, chars: usize) -> Self {
        self.max_chars = Some(chars);
        self
    }

    /// Lists a minimum number of items of a list.
    #[must_use]
    pub const fn min_items(mut self, items: usize) -> Self {
        self.min_items = Some(items);
        self
    }

    /// Sets the value of an absent whole number.
    #[must_use]
    pub const fn default_integer(mut self, default: u64) -> Self {
        self.default = Some(ParamDefault::Integer(default));
        self
    }

    /// Sets the value of an absent number.
    #[must_use]
    pub const fn default_decimal(mut self, default: f64) -> Self {
        self.default = Some(ParamDefault::Decimal(default));
        self
    }

    /// Sets the value of an absent flag.
    #[must_use]
    pub const fn default_flag(mut self, default: bool) -> Self {
        self.default = Some(ParamDefault::Flag(default));
        self
    }

    /// Sets the value of an absent choice or text.
    #[must_use]
    pub const fn default_word(mut self, default: &'static str) -> Self {
        self.default = Some(ParamDefault::Word(default));
        self
    }

    /// Lists the default as part of the schema.
    #[must_use]
    pub const fn show_default(mut self) -> Self {
        self.shows_default = true;
        self
    }

    /// Accepts the parameter without listing it.
    #[must_use]
    pub const fn hidden(mut self) -> Self {
        self.visibility = ParamVisibility::Hidden;
        self
    }

    /// Accepts the parameter without effect and without listing it.
    #[must_use]
    pub const fn ignored(mut self) -> Self {
        self.visibility = ParamVisibility::Ignored;
        self
    }

    /// Omits the maximum from the schema: a safety limit that callers do not reach.
    #[must_use]
    pub const fn hide_max(mut self) -> Self {
        self.hides_max = true;
        self
    }

    /// Passes an empty value on to the tool, where emptiness has a meaning: an empty text to write,
    /// the top folder, `null` to clear a field.
    #[must_use]
    pub const fn keep_empty(mut self) -> Self {
        self.keeps_empty = true;
        self
    }

    /// Returns true if an argument counts as absent: an optional one that is empty.
    pub(super) fn is_absent(&self, value: &Value) -> bool {
        is_empty(value) && !self.is_required && !self.keeps_empty
    }

    fn to_schema(self, settings: &ToolSettings) -> Value {
        let mut schema = match self.kind {
            ParamKind::Text => json!({ "type": "string" }),
            ParamKind::Choice(words) => json!({ "type": "string", "enum": words }),
            ParamKind::Flag => json!({ "type": "boolean" }),
            ParamKind::Integer { min, .. } if self.hides_max => {
                json!({ "type": "integer", "minimum": min })
            }
            ParamKind::Integer { min, max } => {
                json!({ "type": "integer", "minimum": min, "maximum": max })
            }
            ParamKind::Decimal { min, max } => {
                json!({ "type": "number", "minimum": plain(min), "maximum": plain(max) })
            }
            ParamKind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            ParamKind::Object => json!({ "type": "object" }),
            ParamKind::Objects => json!({ "type": "array", "items": { "type": "object" } }),
            ParamKind::Items(items) => {
                json!({ "type": "array", "items": items.params.to_schema(settings) })
            }
            ParamKind::Schema(schema) => schema(settings),
        };
        if !self.description.is_empty() {
            schema["description"] = json!(self.description);
        }
        let limits = [
            ("minLength", self.min_chars),
            ("maxLength", self.max_chars),
            ("minItems", self.min_items),
        ];
        for (name, limit) in limits {
            if let Some(limit) = limit {
                schema[name] = json!(limit);
            }
        }
        if let Some(default) = self.default.filter(|_| self.shows_default) {
            schema["default"] = default.to_json();
        }
        schema
    }
}

/// Returns true for `null`, a blank text, and an empty list or object.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Writes a limit without a fraction where it has none: `1`, not `1.0`.
fn plain(limit: f64) -> Value {
    if limit.fract() == 0.0 && limit.abs() < 1e15 { json!(limit as i64) } else { json!(limit) }
}

/// All parameters of a tool, as groups: its own, then those that it shares with other tools. Of two
/// parameters with one name the first counts.
#[derive(Clone, Copy, Debug)]
pub struct ParamTable {
    groups: &'static [&'static [Param]],
    pub(super) accepts_unknown: bool,
    pub(super) defers_unknown: bool,
}

/// Parameters of the objects in a list.
#[derive(Clone, Copy, Debug)]
pub struct ItemTable {
    /// Name of one object in errors, such as `an entity`.
    pub(super) name: &'static str,
    pub(super) params: ParamTable,
}

impl ItemTable {
    /// Describes the objects of a list.
    pub const fn new(name: &'static str, params: ParamTable) -> Self {
        Self { name, params }
    }
}

impl ParamTable {
    /// A tool without parameters.
    pub const EMPTY: Self = Self::new(&[]);

    /// Combines groups of parameters. Unknown parameters are rejected.
    pub const fn new(groups: &'static [&'static [Param]]) -> Self {
        Self { groups, accepts_unknown: false, defers_unknown: false }
    }

    /// Ignores unknown parameters, for an interface whose clients add parameters over time.
    #[must_use]
    pub const fn accept_unknown(mut self) -> Self {
        self.accepts_unknown = true;
        self
    }

    /// Lets the tool reject unknown parameters itself, together with the other problems of a call.
    #[must_use]
    pub const fn defer_unknown(mut self) -> Self {
        self.defers_unknown = true;
        self
    }

    /// Returns the input schema.
    pub fn to_schema(self, settings: &ToolSettings) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for param in self.listed() {
            properties.insert(param.name.to_owned(), param.to_schema(settings));
            if param.is_required {
                required.push(param.name);
            }
        }
        let mut schema =
            json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema
    }

    pub(super) fn all(self) -> impl Iterator<Item = &'static Param> {
        self.groups.iter().copied().flatten()
    }

    pub(super) fn listed(self) -> impl Iterator<Item = &'static Param> {
        self.all().filter(|param| param.visibility == ParamVisibility::Listed)
    }

    pub(super) fn find(self, name: &str) -> Option<&'static Param> {
        self.all().find(|param| param.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARED: &[Param] = &[
        Param::integer("page", 1, 100, "Page").default_integer(1),
        Param::text("old", "Old name").hidden(),
        Param::text("id", "Never reached").hidden(),
    ];
    const PART: ParamTable = ParamTable::new(&[&[
        Param::text("name", "").min_chars(1).max_chars(9).required(),
        Param::decimal("weight", 0.0, 1.0, "Weight").default_decimal(0.5).show_default(),
    ]]);
    const TABLE: ParamTable = ParamTable::new(&[
        &[
            Param::text("id", "Id").required(),
            Param::choice("kind", &["a", "b"], "Kind"),
            Param::decimal("share", 0.0, 1.0, "Share"),
            Param::integer("line", 1, u64::MAX, "Line").hide_max(),
            Param::texts("tags", "Tags"),
            Param::items("parts", &ItemTable::new("a part", PART), "Parts").min_items(1),
        ],
        SHARED,
    ]);

    #[test]
    fn a_table_yields_the_schema() {
        let expected = json!({
            "type": "object",
            "properties": {
                "id": { "type": "string", "description": "Id" },
                "kind": { "type": "string", "enum": ["a", "b"], "description": "Kind" },
                "share": {
                    "type": "number", "minimum": 0, "maximum": 1, "description": "Share"
                },
                "line": { "type": "integer", "minimum": 1, "description": "Line" },
                "tags": {
                    "type": "array", "items": { "type": "string" }, "description": "Tags"
                },
                "parts": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "object",
                        "properties": {
                            "name": { "type": "string", "minLength": 1, "maxLength": 9 },
                            "weight": {
                                "type": "number", "minimum": 0, "maximum": 1, "default": 0.5,
                                "description": "Weight"
                            },
                        },
                        "required": ["name"],
                        "additionalProperties": false,
                    },
                    "description": "Parts"
                },
                "page": {
                    "type": "integer", "minimum": 1, "maximum": 100, "description": "Page"
                },
            },
            "required": ["id"],
            "additionalProperties": false,
        });
        assert_eq!(TABLE.to_schema(&ToolSettings::standard()), expected);
        assert!(ParamTable::EMPTY.to_schema(&ToolSettings::standard()).get("required").is_none());
    }

    #[test]
    fn only_optional_empty_values_are_absent() {
        let optional = Param::text("a", "A");
        for empty in [json!(null), json!(""), json!(" \n"), json!([]), json!({})] {
            assert!(optional.is_absent(&empty), "{empty}");
            assert!(!optional.required().is_absent(&empty), "{empty}");
            assert!(!optional.keep_empty().is_absent(&empty), "{empty}");
        }
        for value in [json!(false), json!(0), json!("x"), json!([""]), json!({ "a": null })] {
            assert!(!optional.is_absent(&value), "{value}");
        }
    }
}
