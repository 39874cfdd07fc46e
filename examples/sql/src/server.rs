//! The server: dispatches the requests of the protocol to tools and resources.

use std::sync::OnceLock;

use sparring::server::{Context, HandlerResult, WeakServer};
use sparring::types::{Implementation, ServerCapabilities};
use sparring::{ErrorObject, Handler, Json, Server};

use crate::database::Database;
use crate::error::OpenError;
use crate::settings::{Limits, Settings};
use crate::statements::{Rules, names};
use crate::{resources, tools};

/// The handler that serves one database.
#[derive(Debug)]
pub struct SqlServer {
    database: Database,
    rules: Rules,
    limits: Limits,
    /// The server of this handler, which sends change notifications.
    own: OnceLock<WeakServer<SqlServer>>,
}

/// Opens the database of the settings and creates its server. The caller chooses the links.
///
/// # Errors
/// If serving is disabled, or if the database cannot be opened.
pub fn serve(settings: &Settings) -> Result<Server<SqlServer>, OpenError> {
    if settings.disable_serving {
        return Err(OpenError::ServingDisabled);
    }
    let handler = SqlServer {
        database: Database::open(settings)?,
        rules: settings.rules.clone(),
        limits: settings.limits,
        own: OnceLock::new(),
    };
    let server = Server::new(handler);
    // This is the only place that sets it.
    let _ = server.handler().own.set(server.downgrade());
    Ok(server)
}

impl SqlServer {
    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Notifies all clients that the list of tables changed.
    pub(crate) fn tables_changed(&self) {
        if let Some(server) = self.server() {
            server.resources_changed();
        }
    }

    /// Notifies the subscribers of this table.
    pub(crate) fn table_updated(&self, table: &str) {
        if let Some(server) = self.server() {
            server.resource_updated(&resources::uri(table));
        }
    }

    fn server(&self) -> Option<Server<SqlServer>> {
        self.own.get().and_then(WeakServer::upgrade)
    }
}

impl Handler for SqlServer {
    fn info(&self) -> Implementation {
        Implementation::new("sql", env!("CARGO_PKG_VERSION"))
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools().resources().completions()
    }

    fn instructions(&self) -> Option<String> {
        let allowed = names(&self.rules.allowed());
        Some(format!(
            "A SQLite database. Call list_tables and describe first. These statements may run: \
             {allowed}. A result has up to {} rows, and a statement may take {:?}.",
            self.limits.max_rows, self.limits.timeout
        ))
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(tools::all(self).into())
    }

    async fn call_tool(&self, name: &str, arguments: Json<'_>, _: &Context) -> HandlerResult {
        tools::call(self, name, arguments).await
    }

    async fn list_resources(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        resources::list(self).await
    }

    async fn list_resource_templates(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        resources::templates()
    }

    async fn read_resource(&self, uri: &str, cx: &Context) -> HandlerResult {
        resources::read(self, uri, cx).await
    }

    async fn complete(
        &self,
        reference: Json<'_>,
        argument: Json<'_>,
        _: &Context,
    ) -> HandlerResult {
        let text = |json: Json<'_>, name| json.get(name).and_then(Json::as_str).map(String::from);
        let template = text(reference, "uri");
        match (template.as_deref(), text(argument, "name").as_deref()) {
            (Some(resources::TEMPLATE), Some("name")) => {
                resources::complete(self, &text(argument, "value").unwrap_or_default()).await
            }
            _ => Err(ErrorObject::invalid_params(
                "only the table name of the resource template can be completed",
            )
            .into()),
        }
    }
}
