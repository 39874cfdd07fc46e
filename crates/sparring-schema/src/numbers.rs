//! Numbers as JSON has them: by their values, whole or not, and never rounded where
//! that can be helped.

use std::cmp::Ordering;

use serde_json::Number;

/// The whole number that this is, where it stands as one.
fn whole(number: &Number) -> Option<i128> {
    match (number.as_u64(), number.as_i64()) {
        (Some(number), _) => Some(number.into()),
        (_, Some(number)) => Some(number.into()),
        _ => None,
    }
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

/// Whether a number has no fraction: `1.0` has none.
pub(crate) fn is_integer(number: &Number) -> bool {
    !number.is_f64() || float(number).fract() == 0.0
}

/// Which of two numbers is the larger one.
pub(crate) fn compare(one: &Number, other: &Number) -> Ordering {
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        (Some(one), None) => compare_mixed(one, float(other)),
        (None, Some(other)) => compare_mixed(other, float(one)).reverse(),
        (None, None) => float(one).partial_cmp(&float(other)).unwrap_or(Ordering::Equal),
    }
}

fn compare_mixed(whole: i128, float: f64) -> Ordering {
    // A float beyond 128 bits becomes the nearest that has them, which is right here.
    match whole.cmp(&(float.trunc() as i128)) {
        Ordering::Equal => 0.0.partial_cmp(&float.fract()).unwrap_or(Ordering::Equal),
        unequal => unequal,
    }
}

/// The number of a keyword that counts something; `2.0` is one too.
pub(crate) fn count(number: &Number) -> Option<u64> {
    match number.as_u64() {
        Some(count) => Some(count),
        None => {
            let float = float(number);
            let counts = number.is_f64() && float >= 0.0 && float.fract() == 0.0;
            // What is too large to be counted is as good as the largest count.
            counts.then_some(float as u64)
        }
    }
}

/// Whether a number is above zero.
pub(crate) fn is_positive(number: &Number) -> bool {
    float(number) > 0.0
}

/// Whether one number is a multiple of another, by the digits that they are
/// written with: 0.07 is one of 0.01, whatever their doubles are.
pub(crate) fn is_multiple(number: &Number, of: &Number) -> bool {
    if let (Some(number), Some(of)) = (whole(number), whole(of)) {
        return of != 0 && number % of == 0;
    }
    if let (Some(number), Some(of)) = (in_parts(number), in_parts(of)) {
        return of != 0 && number % of == 0;
    }
    let (digits, exponent) = decimal(number);
    let (of_digits, of_exponent) = decimal(of);
    if of_digits == 0 {
        return false;
    }
    let shift = exponent - of_exponent;
    if shift >= 0 {
        // Both factors are below 2^64, and so their product fits.
        let mut rest = digits % of_digits;
        for _ in 0..shift {
            rest = rest * 10 % of_digits;
        }
        return rest == 0;
    }
    let mut divisor = of_digits;
    for _ in shift..0 {
        match divisor.checked_mul(10) {
            Some(larger) => divisor = larger,
            None => return digits == 0,
        }
    }
    digits % divisor == 0
}

/// How many 256th parts a number has that is not large and has no others. Its
/// digits are then exactly its double, and need not be written.
fn in_parts(number: &Number) -> Option<i64> {
    let parts = float(number) * 256.0;
    (parts.abs() < (1_u64 << 28) as f64 && parts.fract() == 0.0).then_some(parts as i64)
}

/// A number without its sign, as digits and a power of ten.
fn decimal(number: &Number) -> (u128, i32) {
    let text = number.to_string();
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
    let mut exponent: i32 = exponent.parse().unwrap_or(0);
    let mut value: u128 = 0;
    let mut after_point = false;
    for byte in digits.bytes() {
        match byte {
            b'.' => after_point = true,
            // A double is written with up to 17 digits and an integer with 20; the
            // zeros with which a large one may be filled up are its exponent.
            b'0'..=b'9' if value > u128::MAX / 1_000_000_000_000_000_000 => {
                exponent += i32::from(!after_point);
            }
            b'0'..=b'9' => {
                value = value * 10 + u128::from(byte - b'0');
                exponent -= i32::from(after_point);
            }
            _ => {}
        }
    }
    while value != 0 && value.is_multiple_of(10) {
        value /= 10;
        exponent += 1;
    }
    (value, exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn multiples_are_of_what_is_written() {
        for (one, of, expected) in [
            ("0.07", "0.01", true),
            ("19.99", "0.01", true),
            ("0.075", "0.01", false),
            ("4.5", "1.5", true),
            ("1e308", "0.5", true),
            ("1e308", "0.123456789", false),
            ("12391239123", "1e-8", true),
            ("0.00751", "0.0001", false),
            ("18446744073709551615", "5", true),
            ("18446744073709551615", "0.5", true),
            ("-9223372036854775808", "3", false),
            ("9.5", "18446744073709551615", false),
            ("1e-300", "1e300", false),
            ("0.0", "1e300", true),
            ("-7.0", "3.5", true),
            ("1.7976931348623157e308", "5e-324", true),
        ] {
            assert_eq!(is_multiple(&number(one), &number(of)), expected, "{one} of {of}");
        }
    }

    #[test]
    fn whole_numbers_and_others_are_compared_exactly() {
        for (one, other, expected) in [
            ("1", "1.0", Ordering::Equal),
            ("9007199254740993", "9007199254740992.0", Ordering::Greater),
            ("18446744073709551615", "18446744073709551616.0", Ordering::Less),
            ("-1", "-1.5", Ordering::Greater),
            ("-2", "-1.5", Ordering::Less),
            ("1", "1.5", Ordering::Less),
            ("0", "-0.0", Ordering::Equal),
            ("18446744073709551615", "1e300", Ordering::Less),
            ("-9223372036854775808", "-1e300", Ordering::Greater),
            ("1.25", "1.5", Ordering::Less),
        ] {
            assert_eq!(compare(&number(one), &number(other)), expected, "{one} {other}");
            let reversed = compare(&number(other), &number(one)).reverse();
            assert_eq!(reversed, expected, "{other} {one}");
        }
    }

    #[test]
    fn what_has_no_fraction_is_an_integer_and_counts() {
        for text in ["1", "1.0", "1e300", "-0.0", "-3"] {
            assert!(is_integer(&number(text)), "{text}");
        }
        assert!(!is_integer(&number("1.5")));
        assert_eq!(count(&number("2.0")), Some(2));
        assert_eq!(count(&number("1e300")), Some(u64::MAX));
        for text in ["-1", "2.5", "-1.0"] {
            assert_eq!(count(&number(text)), None, "{text}");
        }
    }
}
