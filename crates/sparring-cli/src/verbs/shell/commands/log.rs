//! `/mcp log`: what has happened to a server, and the end of its stderr.

use super::super::command::{Argument, Command, Tells, good};
use super::super::desk::Desk;
use super::super::telling::seconds;
use crate::failure::Failure;
use crate::output::table::Table;

pub(super) const COMMAND: Command = Command {
    name: "log",
    takes: "SERVER",
    arguments: &[Argument::Server],
    needs: 1,
    about: "show what has happened to a server, and the end of its stderr",
    more: "",
    tells: Tells::Nobody,
    run: |desk, words| good(run(desk, &words[0])),
};

async fn run(desk: &Desk<'_>, server: &str) -> Result<(), Failure> {
    desk.known(server)?;
    let printer = desk.printer;
    let mut table = Table::default();
    let mut last_words = None;
    for entry in desk.log().of(server) {
        let (text, rest) = entry.text.split_once('\n').unwrap_or((&entry.text, ""));
        table.row([&*format!("{} ago", seconds(entry.at.elapsed())), text]);
        last_words = Some(rest.to_owned());
    }
    let mut text = table.render(printer.paint(), printer.width(), 0);
    let connection = desk.manager.get(server);
    let stderr = connection.as_ref().map(|it| it.stderr()).or(last_words).unwrap_or_default();
    if !stderr.trim().is_empty() {
        text.push_str(&format!("{}\n", printer.paint().aside("stderr:")));
        for line in stderr.trim_end().lines() {
            text.push_str(&format!("  {}\n", printer.paint().foreign(line)));
        }
    }
    let noise = connection.as_ref().map_or(0, |it| it.noise());
    let violations = connection.as_ref().map_or(0, |it| it.violations());
    if noise + violations as u64 > 0 {
        text.push_str(&format!(
            "{noise} lines on stdout that are no frames, {violations} breaches of the protocol\n"
        ));
    }
    if text.is_empty() {
        text = format!("nothing has happened to {server}\n");
    }
    printer.print(&text).await
}
