//! Checks the syntax of strings: base64, URIs, URI templates, media types, timestamps and
//! the keys of metadata. It does not decode or resolve anything.

use fluent_uri::Uri;

use crate::revision::ReservedPrefixes;
use crate::rule::Rule;

/// The syntax of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Base64 with the standard alphabet and padding (RFC 4648, section 4).
    Base64,
    /// A URI with a scheme (RFC 3986).
    Uri,
    /// The URL of an elicitation, which is a URI.
    Url,
    /// The source of an icon, which is a URI.
    IconUri,
    /// A URI template (RFC 6570).
    UriTemplate,
    /// A media type, with or without parameters (RFC 9110, section 8.3.1).
    MediaType,
    /// The media type of a resource, which is only recommended.
    ResourceMediaType,
    /// A date with a time (ISO 8601).
    Timestamp,
    /// The time of the last change, with or without a time of day (ISO 8601).
    LastModified,
    /// The size of an icon.
    IconSize,
}

impl Format {
    /// Returns the format with that name in the notation of the shapes.
    pub(super) fn from_name(name: &str) -> Option<Format> {
        Some(match name {
            "base64" => Format::Base64,
            "uri" => Format::Uri,
            "url" => Format::Url,
            "iconuri" => Format::IconUri,
            "uritemplate" => Format::UriTemplate,
            "mediatype" => Format::MediaType,
            "resourcemediatype" => Format::ResourceMediaType,
            "timestamp" => Format::Timestamp,
            "lastmodified" => Format::LastModified,
            "iconsize" => Format::IconSize,
            _ => return None,
        })
    }

    /// Returns the rule that a string of another syntax breaks.
    pub(super) fn rule(self) -> Rule {
        match self {
            Format::Base64 => Rule::InvalidBase64,
            Format::Uri | Format::Url | Format::IconUri => Rule::InvalidUri,
            Format::UriTemplate => Rule::InvalidUriTemplate,
            Format::MediaType => Rule::InvalidMediaType,
            Format::ResourceMediaType => Rule::InvalidResourceMediaType,
            Format::Timestamp => Rule::InvalidTimestamp,
            Format::LastModified => Rule::InvalidLastModified,
            Format::IconSize => Rule::InvalidIconSize,
        }
    }

    /// Returns the section of the specification that requires the syntax.
    pub(super) fn section(self) -> &'static str {
        match self {
            Format::Url => "client/elicitation#url-mode-elicitation-requests",
            Format::IconUri => "basic#icons",
            other => other.rule().entry().section,
        }
    }

    /// Returns the expected syntax and the reason, if a string has another syntax.
    pub(super) fn problem(self, text: &str) -> Option<String> {
        match self {
            Format::Base64 => base64_problem(text.as_bytes())
                .map(|why| format!("expected base64 (standard alphabet, with padding), but {why}")),
            Format::Uri | Format::Url | Format::IconUri => Uri::parse(text)
                .err()
                .map(|_| format!("expected a URI (RFC 3986), found {}", shorten(text))),
            Format::UriTemplate => template_problem(text).map(|why| {
                format!("expected a URI template (RFC 6570), found {}: {why}", shorten(text))
            }),
            Format::MediaType | Format::ResourceMediaType => (!is_media_type(text)).then(|| {
                format!("expected a media type such as image/png, found {}", shorten(text))
            }),
            Format::Timestamp => (!is_timestamp(text.as_bytes()))
                .then(|| format!("expected an ISO 8601 timestamp, found {}", shorten(text))),
            Format::LastModified => (!is_timestamp(text.as_bytes()) && !is_date(text))
                .then(|| format!("expected an ISO 8601 timestamp, found {}", shorten(text))),
            Format::IconSize => (!is_icon_size(text))
                .then(|| format!("expected a size such as 48x48, or any, found {}", shorten(text))),
        }
    }
}

/// Returns the reason why a text is not base64.
fn base64_problem(text: &[u8]) -> Option<String> {
    let data = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    let is_data = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'/');
    if let Some(at) = data.iter().position(|it| !is_data(it)) {
        let found = String::from_utf8_lossy(&data[at..]).chars().next().unwrap_or_default();
        return Some(format!("character {} is {found:?}", at + 1));
    }
    (!text.len().is_multiple_of(4))
        .then(|| format!("its length {} is not a multiple of 4", text.len()))
}

/// Returns the reason why a text is not a URI template.
fn template_problem(text: &str) -> Option<String> {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match first {
            '{' => {
                let Some(end) = rest.find('}') else {
                    return Some("a brace is not closed".to_owned());
                };
                if let Some(why) = expression_problem(&rest[1..end]) {
                    return Some(why);
                }
                rest = &rest[end + 1..];
                continue;
            }
            '}' => return Some("a brace is not opened".to_owned()),
            '%' if !is_percent_encoded(rest.as_bytes()) => {
                return Some("% is not followed by two hexadecimal digits".to_owned());
            }
            _ if first.is_control()
                || matches!(first, ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '|') =>
            {
                return Some(format!("it contains {first:?}"));
            }
            _ => {}
        }
        rest = &rest[first.len_utf8()..];
    }
    None
}

/// Returns the reason why the text between two braces is not an expression.
fn expression_problem(text: &str) -> Option<String> {
    let operators = ['+', '#', '.', '/', ';', '?', '&', '=', ',', '!', '@', '|'];
    let names = text.strip_prefix(operators).unwrap_or(text);
    let wrong = names.split(',').find(|it| !is_variable(it))?;
    Some(match wrong.is_empty() {
        true => "an expression has no variable".to_owned(),
        false => format!("{wrong:?} is not a variable"),
    })
}

/// Returns true for a variable of an expression, with or without a modifier.
fn is_variable(text: &str) -> bool {
    let name = match text.split_once(':') {
        Some((name, length)) => {
            let digits = length.bytes().all(|it| it.is_ascii_digit());
            if !digits || !(1..=4).contains(&length.len()) || length.starts_with('0') {
                return false;
            }
            name
        }
        None => text.strip_suffix('*').unwrap_or(text),
    };
    let is_name_byte = |(at, byte): (usize, u8)| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'.')
            || byte == b'%' && is_percent_encoded(&name.as_bytes()[at..])
    };
    !name.is_empty()
        && !name.starts_with('.')
        && !name.ends_with('.')
        && !name.contains("..")
        && name.bytes().enumerate().all(is_name_byte)
}

fn is_percent_encoded(text: &[u8]) -> bool {
    matches!(text, [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

fn is_media_type(text: &str) -> bool {
    let (essence, parameters) = match text.split_once(';') {
        Some((essence, parameters)) => (essence, Some(parameters)),
        None => (text, None),
    };
    let has_two_tokens =
        essence.trim_end().split_once('/').is_some_and(|(a, b)| is_token(a) && is_token(b));
    // The value of a parameter can be quoted and contain any character.
    let has_parameters = parameters.is_none_or(|it| {
        it.trim().is_empty() || it.split_once('=').is_some_and(|(name, _)| is_token(name.trim()))
    });
    has_two_tokens && has_parameters
}

fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|it| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&it))
}

/// Accepts the extended and the basic notation, with and without a time zone.
fn is_timestamp(text: &[u8]) -> bool {
    let at = text.iter().position(|it| matches!(it, b'T' | b't' | b' '));
    let Some((date, time)) = at.map(|at| (&text[..at], &text[at + 1..])) else { return false };
    let has_only = |part: &[u8], others: &[u8]| {
        part.iter().all(|it| it.is_ascii_digit() || others.contains(it))
    };
    let digits = |part: &[u8]| part.iter().filter(|it| it.is_ascii_digit()).count();
    // Only RFC 3339 allows a space, and it requires the offset.
    let has_offset = text.ends_with(b"Z") || text.ends_with(b"z") || has_number_offset(time);
    (!text.contains(&b' ') || has_offset)
        && is_in_range(date, b'-', &[(1, 12), (1, 31)])
        && is_in_range(time, b':', &[(0, 59), (0, 60)])
        && time.get(..2).and_then(number).is_some_and(|it| it <= 24)
        && date.len() >= 7
        && date.first().is_some_and(|it| it.is_ascii_digit() || *it == b'+')
        && has_only(date, b"-W+")
        && digits(date) >= 7
        && digits(time) >= 2
        && time.first().is_some_and(u8::is_ascii_digit)
        && has_only(time, b":.,+-Zz")
}

fn number(digits: &[u8]) -> Option<u32> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Returns true if the parts of two digits after the separators are in their ranges. Parts of
/// another length, such as a day of the year, are not judged.
fn is_in_range(text: &[u8], separator: u8, ranges: &[(u32, u32)]) -> bool {
    let end = text.iter().position(|it| b".,+Zz".contains(it)).unwrap_or(text.len());
    let parts = text[..end].split(|it| *it == separator).skip(1).filter(|it| it.len() == 2);
    parts
        .zip(ranges)
        .all(|(part, (least, most))| number(part).is_none_or(|it| (*least..=*most).contains(&it)))
}

/// Returns true if a time ends with an offset such as `+02:00`.
fn has_number_offset(time: &[u8]) -> bool {
    time.iter().rposition(|it| b"+-".contains(it)).is_some_and(|at| time.len() - at > 2)
}

/// Returns true for a URI that an icon can have as its source (2025-11-25 and later,
/// basic#icons).
pub(super) fn is_icon_source(uri: &str) -> bool {
    let scheme = uri.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|it| ["https", "http", "data"].contains(&&*it))
}

/// Returns true for a date of ISO 8601, such as `2025-01-12`.
fn is_date(text: &str) -> bool {
    let is_allowed = |it: u8| it.is_ascii_digit() || b"-W".contains(&it);
    (7..=10).contains(&text.len())
        && text.starts_with(|it: char| it.is_ascii_digit())
        && text.bytes().all(is_allowed)
}

/// Returns true for `any`, and for a width and a height such as `48x48`.
fn is_icon_size(text: &str) -> bool {
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let sides = text.split_once(['x', 'X']);
    text == "any" || sides.is_some_and(|(width, height)| is_number(width) && is_number(height))
}

/// Returns the reason why a key of `_meta` is not valid (2025-06-18 and later,
/// basic#meta). `is_prefix_required` is true for the names of extensions.
pub(super) fn meta_key_problem(key: &str, is_prefix_required: bool) -> Option<String> {
    let (prefix, name) = match key.rsplit_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let is_alphanumeric = |it: Option<char>| it.is_some_and(|it| it.is_ascii_alphanumeric());
    let is_label = |label: &str| {
        label.starts_with(|it: char| it.is_ascii_alphabetic())
            && is_alphanumeric(label.chars().next_back())
            && label.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-')
    };
    match prefix {
        None if is_prefix_required => {
            return Some(format!("{} has no prefix such as com.example/", shorten(key)));
        }
        Some(prefix) if !prefix.split('.').all(is_label) => {
            return Some(format!("the prefix of {} is not a series of labels", shorten(key)));
        }
        _ => {}
    }
    let is_name = name.is_empty()
        || is_alphanumeric(name.chars().next())
            && is_alphanumeric(name.chars().next_back())
            && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(&it));
    (!is_name).then(|| {
        format!(
            "the name of {} does not begin and end with a letter or digit, or has other \
             characters than letters, digits, hyphens, underscores and dots",
            shorten(key)
        )
    })
}

/// Returns a message if a key of `_meta` has a prefix that belongs to the protocol (2025-06-18
/// and later, basic#meta). Extensions of the protocol define keys below
/// `io.modelcontextprotocol/`, so these are not judged.
pub(super) fn reserved_key_problem(key: &str, reserved: ReservedPrefixes) -> Option<String> {
    let (prefix, _) = key.rsplit_once('/')?;
    let labels: Vec<&str> = prefix.split('.').collect();
    let is_name = |label: &&str| matches!(*label, "modelcontextprotocol" | "mcp");
    let is_reserved = match reserved {
        ReservedPrefixes::None => false,
        ReservedPrefixes::AnyLabelButLast => labels[..labels.len() - 1].iter().any(is_name),
        ReservedPrefixes::SecondLabel => labels.get(1).is_some_and(is_name),
    };
    (is_reserved && prefix != "io.modelcontextprotocol")
        .then(|| format!("the prefix of {} is reserved for the protocol", shorten(key)))
}

/// Returns the reason why a value of `_meta` is not valid (2026-07-28, basic#meta): the keys
/// of W3C Trace Context and W3C Baggage have a syntax.
pub(super) fn trace_problem(key: &str, value: &str) -> Option<String> {
    let (is_valid, expected) = match key {
        "traceparent" => (is_trace_parent(value), "a version, a trace id, a parent id and flags"),
        "tracestate" | "baggage" => (is_member_list(value), "a list of key=value"),
        _ => return None,
    };
    (!is_valid).then(|| format!("expected {expected}, found {}", shorten(value)))
}

/// Checks `00-<32 digits>-<16 digits>-<2 digits>`. A later version can have more parts.
fn is_trace_parent(text: &str) -> bool {
    let is_hex = |part: &str, length: usize| {
        part.len() == length
            && part.bytes().all(|it| it.is_ascii_digit() || matches!(it, b'a'..=b'f'))
    };
    let is_id =
        |part: &str, length: usize| is_hex(part, length) && part.bytes().any(|it| it != b'0');
    let parts: Vec<&str> = text.split('-').collect();
    let [version, trace, parent, flags, rest @ ..] = &parts[..] else { return false };
    is_hex(version, 2)
        && *version != "ff"
        && is_id(trace, 32)
        && is_id(parent, 16)
        && is_hex(flags, 2)
        && (rest.is_empty() || *version != "00")
}

/// Checks members with `=`, separated by commas. A member can be empty, and have properties.
fn is_member_list(text: &str) -> bool {
    text.split(',').map(str::trim).all(|member| {
        let pair = member.split(';').next().unwrap_or_default();
        member.is_empty()
            || pair.split_once('=').is_some_and(|(key, value)| {
                let is_key = |it: u8| it.is_ascii_graphic() && !b"\"(),/:;<=>?[\\]{}".contains(&it);
                let key = key.trim_end().replace(['@', '/'], "");
                !key.is_empty() && key.bytes().all(is_key) && value.trim().is_ascii()
            })
    })
}

/// Quotes the beginning of a text.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: Format, valid: &[&str], invalid: &[&str]) {
        for text in valid {
            assert_eq!(format.problem(text), None, "{format:?} {text:?}");
        }
        for text in invalid {
            assert!(format.problem(text).is_some(), "{format:?} {text:?}");
        }
    }

    #[test]
    fn base64_has_the_standard_alphabet_and_padding() {
        check(
            Format::Base64,
            &["", "aGVsbG8=", "aGVsbA==", "aGVs", "+/+/"],
            &[
                "aGVsbG8",
                "a-_b",
                "aGVs\n",
                "a===",
                "====",
                "data:image/png;base64,aGVs",
                "=aaa",
                "hé==",
            ],
        );
    }

    #[test]
    fn a_uri_has_a_scheme_and_no_other_characters() {
        check(
            Format::Uri,
            &[
                "file:///a/b.txt",
                "test://static/1",
                "urn:x:y",
                "a:b",
                "https://e.org/?q=%20#f",
                "data:text/plain,x",
                "screenshot://",
                "demo://resource/dynamic/text/1",
                "git+ssh://host/x",
                "postgres://user@host:5432/db/t/schema",
                "http://[::1]/x",
            ],
            &[
                "",
                "name",
                "/a/b",
                "//host/x",
                "file:///a b",
                "a:{x}",
                "a:%zz",
                "1a:b",
                "a:ü",
                "a:\"b\"",
            ],
        );
    }

    #[test]
    fn a_uri_template_has_complete_expressions() {
        check(
            Format::UriTemplate,
            &[
                "",
                "file:///{path}",
                "a://{+path*}",
                "a:{?q,lang:3}",
                "a:{x.y}",
                "a:{%20}",
                "a:b'c",
                "{+uri}",
                "a:ü/{b_c}",
                "a:{&x*}",
                "a:%41",
            ],
            &[
                "a:{",
                "a:}",
                "a:{}",
                "a:{x y}",
                "a:{x,}",
                "a:{{x}}",
                "a b",
                "a:{x:0}",
                "a:{x:12345}",
                "a:%4",
                "a:{.}",
                "a:{x-y}",
            ],
        );
    }

    #[test]
    fn a_media_type_has_two_tokens() {
        check(
            Format::MediaType,
            &[
                "text/plain",
                "image/svg+xml",
                "text/html;profile=mcp-app",
                "text/plain; charset=utf-8",
                "application/vnd.a.b-c+json",
                "text/plain;",
            ],
            &[
                "",
                "text",
                "text/",
                "/plain",
                "text/pl ain",
                "image png",
                "a/b/c",
                "text/plain; charset",
            ],
        );
    }

    #[test]
    fn a_timestamp_has_date_and_time() {
        check(
            Format::Timestamp,
            &[
                "2025-11-25T10:30:00Z",
                "2025-11-25T10:30:00.123+02:00",
                "20251125T103000Z",
                "2025-W48-2T10:30",
                "2025-329T10:30Z",
                "2025-11-25 10:30:00+00:00",
                "2025-11-25 10:30:00Z",
                "2025-11-25T10:30:00-02:00",
                "2025-11-25T23:59:60Z",
            ],
            &[
                "",
                "now",
                "1732530600",
                "2025-11-25",
                "10:30:00",
                "Tue, 25 Nov 2025 10:30:00 GMT",
                "2025-11-25 10:30:00",
                "2025-99-25T10:30:00Z",
                "2025-11-99T10:30:00Z",
                "2025-11-25T99:30:00Z",
                "2025-11-25T10:99:00Z",
            ],
        );
    }

    #[test]
    fn a_key_of_metadata_has_an_optional_prefix_and_a_name() {
        for key in [
            "a",
            "progressToken",
            "io.modelcontextprotocol/related-task",
            "a-b.c1/",
            "fastmcp",
            "a_b",
            "ui/x",
        ] {
            assert_eq!(meta_key_problem(key, false), None, "{key}");
        }
        for key in ["_a", "a_", "1x.y/z", "a..b/c", "a/b/c", "a b", "-", "a-/b", "/a"] {
            assert!(meta_key_problem(key, false).is_some(), "{key}");
        }
        assert!(meta_key_problem("tasks", true).is_some());
        assert_eq!(meta_key_problem("io.x/tasks", true), None);
    }

    #[test]
    fn trace_context_has_its_syntax() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let later = "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more";
        for (key, value) in [
            ("traceparent", parent),
            ("traceparent", later),
            ("tracestate", "vendor=1,tenant@other=2"),
            ("tracestate", ""),
            ("baggage", "user=alice;ttl=5, region = north"),
            ("other", "anything"),
        ] {
            assert_eq!(trace_problem(key, value), None, "{key} {value}");
        }
        let zeros = format!("00-{}-b7ad6b7169203331-01", "0".repeat(32));
        for (key, value) in [
            ("traceparent", "abc"),
            ("traceparent", &*parent.to_uppercase()),
            ("traceparent", &format!("{parent}-more")),
            ("traceparent", &format!("ff{}", &parent[2..])),
            ("traceparent", &zeros),
            ("tracestate", "vendor"),
            ("baggage", "a b=1"),
            ("baggage", "=1"),
        ] {
            assert!(trace_problem(key, value).is_some(), "{key} {value}");
        }
    }
}
