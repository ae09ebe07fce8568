//! Percent-encoding of single characters, and decoding of whole texts.

use std::borrow::Cow;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Appends a character as percent codes of its UTF-8 bytes. ASCII letters and digits stay as is.
pub(crate) fn push_encoded(out: &mut String, c: char) {
    out.extend(utf8_percent_encode(c.encode_utf8(&mut [0; 4]), NON_ALPHANUMERIC));
}

/// Decodes percent codes; `None` if the result is not UTF-8. A `%` without two hexadecimal digits
/// stays as is.
pub(crate) fn decode(text: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(text).decode_utf8().ok()
}
