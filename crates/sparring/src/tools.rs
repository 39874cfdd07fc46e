//! The tools of a server in a test, which can be checked.

use std::ops::Deref;

use sparring_wire::types::Tool;

use crate::scene::Scene;

/// All tools of a server, in its order.
#[derive(Debug, Clone)]
pub struct Tools {
    tools: Vec<Tool>,
    scene: Scene,
}

impl Tools {
    pub(crate) fn new(tools: Vec<Tool>, scene: Scene) -> Self {
        Tools { tools, scene }
    }

    /// The tool of that name.
    ///
    /// # Panics
    /// When there is none; the message lists those there are.
    #[track_caller]
    pub fn find_tool(&self, name: &str) -> &Tool {
        self.tools.iter().find(|tool| tool.name == name).unwrap_or_else(|| {
            let names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_ref()).collect();
            self.scene.fail(format_args!("no tool {name:?}; there are: {}", names.join(", ")))
        })
    }
}

impl Deref for Tools {
    type Target = [Tool];

    fn deref(&self) -> &[Tool] {
        &self.tools
    }
}
