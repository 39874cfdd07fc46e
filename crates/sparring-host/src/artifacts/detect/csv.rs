//! Whether a text is a table of cells.

use std::collections::HashSet;

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};

/// A name of a column is not longer than this.
const NAME: usize = 80;

/// A table has more than one column and row, as many cells in each row, and a
/// first row of names, unless it is all numbers.
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
    // In prose a blank follows every comma. A column of numbers is none.
    let spaced = delimiter != b'\t' && data.iter().chain([names]).all(|row| is_spaced(row));
    let column = |index: usize| data.iter().all(|row| is_number(&row[index]));
    named && (!spaced || (0..names.len()).any(column))
}

/// All rows but empty ones; none where a quote is not closed. Stops at the
/// first row that has another number of cells than the first.
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

/// Whether a cell can name a column: a few words, and nothing of a sentence or
/// of code.
fn is_name(cell: &str) -> bool {
    let cell = cell.trim();
    let opened = cell.chars().filter(|c| "([".contains(*c)).count();
    let closed = cell.chars().filter(|c| ")]".contains(*c)).count();
    cell.chars().any(char::is_alphabetic)
        && cell.len() <= NAME
        && cell.split_whitespace().count() <= 6
        && !cell.starts_with(|c: char| c.is_ascii_digit())
        && !cell.ends_with(['.', '!', '?', ':'])
        && !cell.contains(['{', '}', '=', ';', '<', '>', '\n', '"'])
        && opened == closed
}
