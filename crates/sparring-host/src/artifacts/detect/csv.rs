//! Detects CSV tables.

use std::collections::HashSet;

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};

/// The maximum number of bytes of a column's name.
const MAX_COLUMN_NAME_BYTES: usize = 80;

/// Returns true if the text is a table: several columns and rows, equally many
/// cells in each row, and a first row of names, unless all cells are numbers.
pub(super) fn is_table(text: &str) -> bool {
    [b',', b';', b'\t'].into_iter().any(|delimiter| is_table_by(text, delimiter))
}

fn is_table_by(text: &str, delimiter: u8) -> bool {
    let first = text.lines().next().unwrap_or_default();
    if !first.as_bytes().contains(&delimiter) {
        return false;
    }
    let Some(rows) = rows(text, delimiter) else { return false };
    let [names, data @ ..] = rows.as_slice() else { return false };
    if data.is_empty() || names.len() < 2 || data.iter().any(|row| row.len() != names.len()) {
        return false;
    }
    let numbers = |row: &Vec<String>| row.iter().all(|cell| is_number(cell));
    if rows.iter().all(numbers) {
        return true;
    }
    let different: HashSet<_> = names.iter().map(|name| name.trim()).collect();
    let named = names.iter().all(|name| is_name(name)) && different.len() == names.len();
    // In prose a space follows every comma. A column of numbers shows that it
    // is a table.
    let spaced = delimiter != b'\t' && data.iter().chain([names]).all(|row| is_spaced(row));
    let column = |index: usize| data.iter().all(|row| is_number(&row[index]));
    named && (!spaced || (0..names.len()).any(column))
}

/// Parses all rows except empty ones. Returns `None` for an unclosed quote or a
/// row with another number of cells than the first.
fn rows(text: &str, delimiter: u8) -> Option<Vec<Vec<String>>> {
    let mut reader: Reader = ReaderBuilder::new().delimiter(delimiter).build();
    let mut input = text.as_bytes();
    let mut cell = vec![0; text.len()];
    let (mut rows, mut row, mut written) = (Vec::<Vec<String>>::new(), Vec::new(), 0);
    if text.bytes().filter(|byte| *byte == b'"').count() % 2 == 1 {
        return None;
    }
    loop {
        let (result, read, wrote) = reader.read_field(input, &mut cell[written..]);
        (input, written) = (&input[read..], written + wrote);
        let ReadFieldResult::Field { record_end } = result else {
            match result {
                ReadFieldResult::End => return Some(rows),
                ReadFieldResult::InputEmpty => continue,
                _ => return None,
            }
        };
        row.push(String::from_utf8_lossy(&cell[..written]).into_owned());
        written = 0;
        if record_end {
            let row = std::mem::take(&mut row);
            if rows.first().is_some_and(|first| first.len() != row.len()) {
                return None;
            }
            rows.push(row);
        }
    }
}

fn is_spaced(row: &[String]) -> bool {
    row.iter().skip(1).all(|cell| cell.starts_with(' '))
}

fn is_number(cell: &str) -> bool {
    let cell = cell.trim();
    cell.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && cell.parse::<f64>().is_ok()
}

/// Returns true if a cell can name a column: a few words, and no characters of
/// a sentence or of code.
fn is_name(cell: &str) -> bool {
    let cell = cell.trim();
    let opened = cell.chars().filter(|c| "([".contains(*c)).count();
    let closed = cell.chars().filter(|c| ")]".contains(*c)).count();
    cell.chars().any(char::is_alphabetic)
        && cell.len() <= MAX_COLUMN_NAME_BYTES
        && cell.split_whitespace().count() <= 6
        && !cell.starts_with(|c: char| c.is_ascii_digit())
        && !cell.ends_with(['.', '!', '?', ':'])
        && !cell.contains(['{', '}', '=', ';', '<', '>', '\n', '"'])
        && opened == closed
}
