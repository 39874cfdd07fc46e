//! Checks that `docs/seeds.md` has one row for each planned behaviour, and that each
//! row names existing tests or transcript cases.

use std::collections::HashSet;

use super::File;

const PAGE: &str = "docs/seeds.md";

/// The number of ids in the first groups: `0.1` to `0.13`, `1.1` and so on.
const GROUPS: [usize; 4] = [13, 11, 7, 11];

/// The number of ids in the parts of group 4: `4.1.1` to `4.1.4`, and so on.
const GROUP_4_PARTS: [usize; 12] = [4, 6, 9, 4, 7, 15, 3, 5, 7, 3, 3, 4];

pub(super) fn check(files: &[File]) -> Vec<String> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        return vec![format!("{PAGE}: no such file")];
    };
    let known = all_ids();
    let mut seen = HashSet::new();
    let mut problems = Vec::new();
    for (index, line) in page.text.lines().enumerate() {
        let Some(cells) = parse_cells(line) else { continue };
        let [id, _, tests] = cells[..] else {
            problems.push(page.problem(index, "a row must be `| id | what | tests |`"));
            continue;
        };
        if !known.iter().any(|known| known == id) {
            problems.push(page.problem(index, &format!("unknown id `{id}`")));
        }
        if !seen.insert(id) {
            problems.push(page.problem(index, &format!("a second row for {id}")));
        }
        for problem in check_tests(tests, files) {
            problems.push(page.problem(index, &format!("{id}: {problem}")));
        }
    }
    let missing = known.iter().filter(|id| !seen.contains(id.as_str()));
    problems.extend(missing.map(|id| format!("{PAGE}: no row for {id}")));
    problems
}

/// Returns all ids, in order.
fn all_ids() -> Vec<String> {
    let groups = GROUPS.iter().enumerate();
    let groups = groups.map(|(group, count)| (group.to_string(), count));
    let parts = GROUP_4_PARTS.iter().enumerate();
    let parts = parts.map(|(part, count)| (format!("4.{}", part + 1), count));
    groups
        .chain(parts)
        .flat_map(|(group, count)| (1..=*count).map(move |n| format!("{group}.{n}")))
        .collect()
}

/// Parses the cells of a table row; `None` for table heads and prose.
fn parse_cells(line: &str) -> Option<Vec<&str>> {
    let row = line.trim().strip_prefix('|')?;
    let row = row.strip_suffix('|').unwrap_or(row);
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    let is_head = cells[0] == "id" || cells[0].starts_with("--");
    (!is_head).then_some(cells)
}

/// Returns the problems of a list of tests, which are names in backticks.
fn check_tests(tests: &str, files: &[File]) -> Vec<String> {
    if tests.is_empty() {
        return vec!["no tests".to_owned()];
    }
    tests
        .split(',')
        .map(str::trim)
        .filter_map(|item| {
            let test = item.strip_prefix('`').and_then(|item| item.strip_suffix('`'));
            match test {
                Some(test) if exists(test, files) => None,
                Some(test) => Some(format!("no such test: `{test}`")),
                None => Some(format!("{item} is not a test in backticks")),
            }
        })
        .collect()
}

/// Returns true if a test such as `sparring-peer::it::lifecycle::sends_initialized` exists.
fn exists(test: &str, files: &[File]) -> bool {
    let parts: Vec<&str> = test.split("::").collect();
    let [package, modules @ .., name] = &parts[..] else {
        return false;
    };
    if let ["golden", topic @ ..] = modules {
        return has_case(package, topic, name, files);
    }
    let candidates = candidate_files(package, modules);
    files.iter().any(|file| candidates.contains(&file.path) && has_test(&file.text, name))
}

/// Returns true if a transcript has a case. `mock::calls::call` is a case of `mock/calls.txt`,
/// `steps::alone` one of `steps/steps.txt`, and `verbs::call::call::over-sse` is the
/// case `verbs::call::call`, which the runner repeats as `over-sse`.
fn has_case(package: &str, topic: &[&str], name: &str, files: &[File]) -> bool {
    let tests = format!("crates/{package}/tests");
    let has = |path: String, line: &dyn Fn(&str) -> bool| {
        files.iter().any(|file| file.path == path && file.text.lines().any(line))
    };
    match topic {
        [topic @ .., case] if name.starts_with("over-") => {
            let literal = format!("\"{name}\"");
            has(format!("{tests}/support/cases.rs"), &|line| line.contains(&literal))
                && has_case(package, topic, case, files)
        }
        [group] => has_case(package, &[group, group], name, files),
        topic => {
            let heading = format!("== {name}");
            has(format!("{tests}/golden/{}.txt", topic.join("/")), &|line| line == heading)
        }
    }
}

/// Returns the files in which the tests of a module may be.
fn candidate_files(package: &str, modules: &[&str]) -> Vec<String> {
    let folders = match package {
        "xtask" => vec![package.to_owned()],
        _ => ["crates", "examples"].map(|top| format!("{top}/{package}")).to_vec(),
    };
    let module = modules.join("/");
    let ends = match modules {
        [] => ["src/lib.rs", "src/main.rs", "src/tests.rs"].map(str::to_owned).to_vec(),
        _ => ["src", "tests"]
            .iter()
            .flat_map(|top| {
                [".rs", "/mod.rs", "/tests.rs", "/main.rs"]
                    .map(|end| format!("{top}/{module}{end}"))
            })
            .collect(),
    };
    folders
        .iter()
        .flat_map(|folder| ends.iter().map(move |end| format!("{folder}/{end}")))
        .collect()
}

/// Returns true if the text has a function of this name with a test attribute.
fn has_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let signatures = [format!("fn {name}("), format!("async fn {name}(")];
    (0..lines.len()).any(|at| {
        let line = lines[at].strip_prefix("pub ").unwrap_or(lines[at]);
        signatures.iter().any(|start| line.starts_with(start))
            && lines[..at]
                .iter()
                .rev()
                .filter(|line| !line.starts_with("//"))
                .take_while(|line| !line.is_empty() && !line.ends_with(['{', '}', ';']))
                .any(|line| is_test_attribute(line))
    })
}

/// Returns true if a line starts with `#[test]`, `#[tokio::test(…)]` or similar.
fn is_test_attribute(line: &str) -> bool {
    line.strip_prefix("#[").is_some_and(|rest| {
        let path = rest.split([']', '(']).next().unwrap_or(rest);
        path.rsplit("::").next() == Some("test")
    })
}

#[cfg(test)]
mod tests;
