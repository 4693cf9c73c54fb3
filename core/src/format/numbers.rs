//! Integers in JSON: decimal or 0x-hexadecimal strings, or bare numbers, as snarkjs accepts them.

use num_bigint::BigUint;
use serde_json::value::RawValue;

/// Longest text of a number: 384 bits are 116 decimal digits.
const MAX_TEXT: usize = 128;

/// A number as the file writes it, quotes included, cut to a length that fits a message.
pub(super) fn shown(raw: &RawValue) -> String {
    let text = raw.get();
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}... ({} bytes)", &text[..end], text.len()),
        None => text.into(),
    }
}

/// The integer that a JSON value stands for; `None` if it is none, negative, or longer than any field element.
pub(super) fn integer(raw: &RawValue) -> Option<BigUint> {
    let text = raw.get();
    if text.len() > MAX_TEXT + 2 {
        return None;
    }
    let unquoted = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text);
    let (digits, radix) = match unquoted.strip_prefix("0x").or_else(|| unquoted.strip_prefix("0X")) {
        // A bare 0x is not JSON, so this only happens inside quotes.
        Some(hex) => (hex, 16),
        None => (unquoted, 10),
    };
    // parse_bytes lets signs and underscores pass.
    let clean = !digits.is_empty() && digits.bytes().all(|b| char::from(b).is_digit(radix));
    if clean { BigUint::parse_bytes(digits.as_bytes(), radix) } else { None }
}

/// Big-endian bytes of exactly N; `None` if it needs more.
pub(super) fn to_bytes_be<const N: usize>(value: &BigUint) -> Option<[u8; N]> {
    let digits = value.to_bytes_be();
    let mut out = [0; N];
    out.get_mut(N.checked_sub(digits.len())?..)?.copy_from_slice(&digits);
    Some(out)
}

/// Decimal digits of a big-endian integer.
pub(super) fn decimal(big_endian: &[u8]) -> String {
    BigUint::from_bytes_be(big_endian).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_number() {
        let value = |text: &str| integer(&RawValue::from_string(text.into()).unwrap());
        for (text, expected) in
            [("\"12\"", 12u32), ("12", 12), ("\"0x1f\"", 31), ("\"0X1F\"", 31), ("\"007\"", 7), ("0", 0)]
        {
            assert_eq!(value(text), Some(expected.into()), "{text}");
        }
        let long = format!("\"{}\"", "1".repeat(200));
        for text in [
            "\"\"", "\"0x\"", "-1", "\"-1\"", "\"+1\"", "1.5", "1e3", "\"1_0\"", "\" 1\"", "null", "[]",
            "true", &long,
        ] {
            assert_eq!(value(text), None, "{text}");
        }
        assert_eq!(to_bytes_be::<2>(&BigUint::from(258u32)), Some([1, 2]));
        assert_eq!(to_bytes_be::<1>(&BigUint::from(258u32)), None);
        assert_eq!(to_bytes_be::<2>(&BigUint::from(0u32)), Some([0, 0]));
        assert_eq!(decimal(&[1, 2]), "258");
    }
}
