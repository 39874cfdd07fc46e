//! Aligned columns. The last one is truncated to the width of the terminal.

use unicode_width::UnicodeWidthStr as _;

use super::{Paint, line};

/// Minimum width of the last column, however narrow the terminal is.
const MIN_LAST_COLUMN: usize = 20;

/// Rows with the same columns.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Adds a row. Only the first line of each cell is shown.
    pub(crate) fn add_row<'a>(&mut self, cells: impl IntoIterator<Item = &'a str>) {
        self.rows.push(cells.into_iter().map(line::first_line).collect());
    }

    /// Renders one line a row, indented by `indent` columns.
    pub(crate) fn render(&self, paint: Paint, width: Option<usize>, indent: usize) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.width()).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..columns).map(widest).collect();
        let before: usize = widths.iter().rev().skip(1).map(|width| width + 2).sum();
        let room = width.map(|width| width.saturating_sub(indent + before).max(MIN_LAST_COLUMN));
        let mut text = String::new();
        for row in &self.rows {
            let mut shown = " ".repeat(indent);
            for (column, cell) in row.iter().enumerate() {
                let last = column + 1 == columns;
                let cell = match room {
                    Some(room) if last => line::truncate(cell, room),
                    _ => cell.clone(),
                };
                let gap = if last { 0 } else { widths[column] - cell.width() + 2 };
                shown.push_str(&if column == 0 { paint.heading(&cell) } else { cell });
                shown.push_str(&" ".repeat(gap));
            }
            text.push_str(shown.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(width: Option<usize>, expected: &str) {
        let mut table = Table::default();
        table.add_row(["echo", "Says the same again, and then some"]);
        table.add_row(["日本", "Second\nof two lines"]);
        table.add_row(["long-name", ""]);
        assert_eq!(table.render(Paint::new(false, false), width, 2), expected);
    }

    #[test]
    fn columns_are_aligned() {
        check(
            None,
            "  echo       Says the same again, and then some\n  日本       Second\n  long-name\n",
        );
    }

    #[test]
    fn the_last_column_is_cut_to_the_terminal() {
        check(Some(36), "  echo       Says the same again, a…\n  日本       Second\n  long-name\n");
    }
}
