//! The real servers: their packages, commands and variables.

/// A place where packages are installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packages {
    Node,
    Python,
    /// Packages that need the first version of the Python SDK.
    PythonSdk1,
    /// Examples of this workspace.
    Rust,
}

impl Packages {
    pub(super) const ALL: [Packages; 4] =
        [Packages::Node, Packages::Python, Packages::PythonSdk1, Packages::Rust];

    /// Returns the name of the folder, in `xtask/servers` and in `target/servers`.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Packages::Node => "node",
            Packages::Python => "python",
            Packages::PythonSdk1 => "python-mcp1",
            Packages::Rust => "rust",
        }
    }
}

/// A real server.
pub(super) struct RealServer {
    pub(super) name: &'static str,
    pub(super) packages: Packages,
    /// The program and its arguments. `{packages}` is the folder of the installed packages,
    /// `{work}` the working folder, and `{examples}` the folder of built examples.
    pub(super) command: &'static [&'static str],
    pub(super) variables: &'static [(&'static str, &'static str)],
    /// More flags of `spar check`.
    pub(super) flags: &'static [&'static str],
    /// The revisions in which the suite that `spar init` writes fails, each with the reason in
    /// the specification.
    pub(super) failing_suites: &'static [(&'static str, &'static str)],
}

/// A server from npm, run by the Node that is installed with it.
const fn node(name: &'static str, command: &'static [&'static str]) -> RealServer {
    RealServer {
        name,
        packages: Packages::Node,
        command,
        variables: &[],
        flags: &[],
        failing_suites: &[],
    }
}

/// A server from PyPI.
const fn python(name: &'static str, command: &'static [&'static str]) -> RealServer {
    node(name, command).packages(Packages::Python)
}

impl RealServer {
    const fn packages(mut self, packages: Packages) -> Self {
        self.packages = packages;
        self
    }

    const fn variables(mut self, variables: &'static [(&'static str, &'static str)]) -> Self {
        self.variables = variables;
        self
    }

    /// Calls no tools: they need the Internet, so their results depend on the machine.
    const fn without_calls(mut self) -> Self {
        self.flags = &["--no-call"];
        self
    }

    /// Allows to call all tools: they change nothing outside of the working folder.
    const fn calling_all_tools(mut self) -> Self {
        self.flags = CALL_ALL_TOOLS;
        self
    }

    const fn failing_suites(mut self, suites: &'static [(&'static str, &'static str)]) -> Self {
        self.failing_suites = suites;
        self
    }

    pub(super) fn calls_all_tools(&self) -> bool {
        self.flags == CALL_ALL_TOOLS
    }
}

/// The reason why there is no suite for a server that needs the Internet to list its tools.
const NO_TOOL_LIST: &str = "it answers tools/list with the error `fetch failed`";

const CALL_ALL_TOOLS: &[&str] = &["--call", "all"];

const NODE: &str = "{packages}/node_modules/.bin/node";

/// All servers.
pub(super) const SERVERS: &[RealServer] = &[
    node("everything", &[NODE, "{packages}/node_modules/.bin/mcp-server-everything"])
        .calling_all_tools()
        .failing_suites(&[
            ("2024-11-05", "it sends `resource_link`, which the schema does not have"),
            ("2025-03-26", "it sends `resource_link`, which the schema does not have"),
            ("2025-06-18", "it asks for a list in a form, which the schema does not have"),
            ("2025-11-25", "a call without the required task gets a result, not the error -32601"),
        ]),
    node("filesystem", &[NODE, "{packages}/node_modules/.bin/mcp-server-filesystem", "{work}"])
        .calling_all_tools(),
    node("memory", &[NODE, "{packages}/node_modules/.bin/mcp-server-memory"])
        .variables(&[("MEMORY_FILE_PATH", "{work}/memory.json")])
        .calling_all_tools(),
    node(
        "sequential-thinking",
        &[NODE, "{packages}/node_modules/.bin/mcp-server-sequential-thinking"],
    )
    .calling_all_tools(),
    node("typescript-sdk1", &[NODE, "{packages}/typescript_sdk1.mjs"]).calling_all_tools(),
    node("typescript-sdk2", &[NODE, "{packages}/typescript_sdk2.mjs"]).calling_all_tools(),
    node("fastmcp-typescript", &[NODE, "{packages}/fastmcp_typescript.mjs"]).calling_all_tools(),
    node("antv-chart", &[NODE, "{packages}/node_modules/.bin/mcp-server-chart"]).without_calls(),
    node("brave-search", &[NODE, "{packages}/node_modules/.bin/brave-search-mcp-server"])
        .variables(&[("BRAVE_API_KEY", "none"), ("BRAVE_MCP_TRANSPORT", "stdio")])
        .without_calls(),
    node("chrome-devtools", &[NODE, "{packages}/node_modules/.bin/chrome-devtools-mcp"]),
    node("context7", &[NODE, "{packages}/node_modules/.bin/context7-mcp"]).without_calls(),
    node("eslint", &[NODE, "{packages}/node_modules/@eslint/mcp/src/mcp-cli.js"]),
    node("exa", &[NODE, "{packages}/node_modules/.bin/exa-mcp-server"])
        .variables(&[("EXA_API_KEY", "none")])
        .without_calls(),
    node(
        "figma",
        &[
            NODE,
            "{packages}/node_modules/.bin/figma-developer-mcp",
            "--stdio",
            "--figma-api-key",
            "none",
        ],
    )
    .without_calls(),
    node("firecrawl", &[NODE, "{packages}/node_modules/.bin/firecrawl-mcp"])
        .variables(&[("FIRECRAWL_API_KEY", "none")])
        .without_calls(),
    node("notion", &[NODE, "{packages}/node_modules/.bin/notion-mcp-server"])
        .variables(&[("NOTION_TOKEN", "none")])
        .without_calls(),
    node("playwright", &[NODE, "{packages}/node_modules/.bin/playwright-mcp", "--headless"]),
    node(
        "supabase",
        &[NODE, "{packages}/node_modules/.bin/mcp-server-supabase", "--access-token", "none"],
    )
    .without_calls()
    .failing_suites(&[
        ("2024-11-05", NO_TOOL_LIST),
        ("2025-03-26", NO_TOOL_LIST),
        ("2025-06-18", NO_TOOL_LIST),
        ("2025-11-25", NO_TOOL_LIST),
        ("2026-07-28", NO_TOOL_LIST),
    ]),
    node("tavily", &[NODE, "{packages}/node_modules/.bin/tavily-mcp"])
        .variables(&[("TAVILY_API_KEY", "none")])
        .without_calls(),
    python("python-sdk", &["{packages}/bin/python", "{packages}/python_sdk.py"])
        .calling_all_tools(),
    python("fastmcp-python", &["{packages}/bin/python", "{packages}/fastmcp_python.py"])
        .calling_all_tools(),
    python("fetch", &["{packages}/bin/mcp-server-fetch"]).without_calls(),
    python("git", &["{packages}/bin/mcp-server-git", "--repository", "{work}"]).calling_all_tools(),
    python(
        "motherduck",
        &["{packages}/bin/mcp-server-motherduck", "--db-path", ":memory:", "--read-write"],
    ),
    python("time", &["{packages}/bin/mcp-server-time"]).calling_all_tools(),
    python("calculator", &["{packages}/bin/mcp-server-calculator"])
        .packages(Packages::PythonSdk1)
        .calling_all_tools(),
    python("sqlite", &["{packages}/bin/mcp-server-sqlite", "--db-path", "{work}/test.db"])
        .packages(Packages::PythonSdk1)
        .calling_all_tools()
        .failing_suites(&[
            ("2025-06-18", "it sends updates without declaring `resources.subscribe`"),
            ("2025-11-25", "it sends updates without declaring `resources.subscribe`"),
        ]),
    python("arxiv", &["{packages}/bin/arxiv-mcp-server", "--storage-path", "{work}"])
        .packages(Packages::PythonSdk1)
        .without_calls(),
    python("wikipedia", &["{packages}/bin/wikipedia-mcp"])
        .packages(Packages::PythonSdk1)
        .without_calls(),
    python("rmcp", &["{examples}/rmcp_server"])
        .packages(Packages::Rust)
        .variables(&[("RUST_BACKTRACE", "0")])
        .calling_all_tools()
        .failing_suites(&[
            ("2024-11-05", "it sends `elicitation/create`, which the revision does not have"),
            ("2025-03-26", "it sends `elicitation/create`, which the revision does not have"),
        ]),
];
