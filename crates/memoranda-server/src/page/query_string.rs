//! Query strings of the page's requests.

/// Parameters of a query string, in order.
#[derive(Default, Debug, PartialEq, Eq)]
pub(crate) struct QueryString(Vec<(String, String)>);

impl QueryString {
    /// Parses a query string. Malformed escapes stay as they are.
    pub(crate) fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        };
        Self(pairs.map(pair).collect())
    }

    /// Returns the first value of a parameter; `None` if it is absent or empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// Returns all values of a parameter that are not empty.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let found = self.0.iter().filter(move |(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Returns true if a parameter is set to anything but a clear no.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !matches!(value, "false" | "0" | "no"))
    }
}

/// Decodes `+` and percent escapes; bytes that are not UTF-8 are replaced.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        let escaped = match (first, tail) {
            (b'%', [high, low, ..]) => hex_digit(*high).zip(hex_digit(*low)),
            _ => None,
        };
        match (first, escaped) {
            (_, Some((high, low))) => {
                bytes.push(high << 4 | low);
                rest = tail.get(2..).unwrap_or_default();
            }
            (b'+', _) => bytes.push(b' '),
            _ => bytes.push(first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded() {
        for (text, expected) in [
            ("q=a+b", "a b"),
            ("q=a%20b%2Bc", "a b+c"),
            ("q=%E6%9D%B1", "東"),
            ("q=100%", "100%"),
            ("q=%zz%4", "%zz%4"),
            ("x=1&q=y=z", "y=z"),
            ("q=%ff", "\u{fffd}"),
        ] {
            assert_eq!(QueryString::parse(text).get("q"), Some(expected), "{text}");
        }
        assert_eq!(QueryString::parse("q=&p").get("q"), None);
        let several = QueryString::parse("tag=a&tag=b&tag=");
        assert_eq!(several.all("tag").collect::<Vec<_>>(), ["a", "b"]);
        assert!(QueryString::parse("past=true").is_set("past"));
        assert!(!QueryString::parse("past=false").is_set("past"));
    }
}
