//! Tagged fields: the encoding of records since format 2.
//!
//! ```text
//! field  = tag varint | length varint | value
//! varint = 7 bits a byte, the lowest first; the highest bit of a byte says that another follows
//! ```
//!
//! A reader skips the tags that it does not know and keeps their bytes, so that a rewritten record
//! loses nothing that a newer version wrote.

/// A field of an unknown tag: tag and value.
pub(crate) type UnknownField = (u64, Vec<u8>);

/// Longest encoding of a number in bytes.
const MAX_VARINT_BYTES: usize = 10;

/// Appends a number.
pub(super) fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a field.
pub(super) fn put_field(out: &mut Vec<u8>, tag: u64, value: &[u8]) {
    put_varint(out, tag);
    put_varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// Appends a field that holds a number.
pub(super) fn put_number(out: &mut Vec<u8>, tag: u64, number: u64) {
    let mut value = Vec::with_capacity(MAX_VARINT_BYTES);
    put_varint(&mut value, number);
    put_field(out, tag, &value);
}

/// Appends a field unless there is no value.
pub(super) fn put_optional(out: &mut Vec<u8>, tag: u64, value: Option<&[u8]>) {
    if let Some(value) = value {
        put_field(out, tag, value);
    }
}

/// Appends fields as they were read.
pub(super) fn put_unknown(out: &mut Vec<u8>, fields: &[UnknownField]) {
    for (tag, value) in fields {
        put_field(out, *tag, value);
    }
}

/// Reads fields, or numbers, from the beginning of a byte string.
#[derive(Clone, Copy)]
pub(super) struct FieldReader<'a>(pub(super) &'a [u8]);

impl<'a> FieldReader<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads a number; `None` at the end or if it is malformed.
    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for n in 0..MAX_VARINT_BYTES {
            let byte = *self.0.get(n)?;
            let bits = u64::from(byte & 0x7f);
            if n == MAX_VARINT_BYTES - 1 && bits > 1 {
                return None;
            }
            number |= bits << (7 * n);
            if byte & 0x80 == 0 {
                self.0 = &self.0[n + 1..];
                return Some(number);
            }
        }
        None
    }

    /// Reads bytes that follow their length; `None` if they are cut short.
    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.varint()?).ok()?;
        let (value, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(value)
    }

    /// Reads the next field; `None` if it is cut short.
    pub(super) fn field(&mut self) -> Option<(u64, &'a [u8])> {
        Some((self.varint()?, self.bytes()?))
    }
}

/// Reads a value that is one number.
pub(super) fn number(value: &[u8]) -> Option<u64> {
    let mut reader = FieldReader(value);
    reader.varint().filter(|_| reader.is_empty())
}

/// Reads a value that is a text.
pub(super) fn text(value: &[u8]) -> Option<String> {
    String::from_utf8(value.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_fields_come_back_as_they_were() {
        for n in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, n);
            assert_eq!(number(&bytes), Some(n));
            assert_eq!(number(&bytes[..bytes.len() - 1]), None);
        }
        let mut bytes = Vec::new();
        put_field(&mut bytes, 300, b"value");
        put_number(&mut bytes, 1, 5);
        let mut reader = FieldReader(&bytes);
        assert_eq!(reader.field(), Some((300, &b"value"[..])));
        assert_eq!(reader.field(), Some((1, &[5u8][..])));
        assert!(reader.is_empty());
        for cut in 1..bytes.len() {
            let mut reader = FieldReader(&bytes[..cut]);
            let mut whole = 0;
            while !reader.is_empty() && reader.field().is_some() {
                whole += 1;
            }
            assert!(whole < 2, "cut at {cut}");
        }
    }

    #[test]
    fn a_number_of_more_than_64_bits_is_none() {
        assert_eq!(number(&[0xff; 10]), None);
        assert_eq!(number(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]), None);
    }
}
