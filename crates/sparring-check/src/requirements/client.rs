//! Features of clients that a server uses: roots, sampling, elicitation.

use super::requirements;

requirements! {}
