//! Messages of JSON-RPC: the page `basic` and `basic/messages`.

use super::requirements;

requirements! {
    "basic#requests", Must, ALL,
        "A request has a string or an integer as its id, never null.",
        [IdNull, IdMissing, IdWrongType, IdFractional];
    "basic#requests", Must, ALL,
        "A side does not use the id of one of its earlier requests again.",
        [IdReused];
}
