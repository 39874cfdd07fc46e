//! Features of servers: tools, resources, prompts, completion, pagination.

use super::requirements;

requirements! {}
