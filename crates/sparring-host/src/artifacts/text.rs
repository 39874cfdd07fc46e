//! The pieces of a text: itself, and the blocks of data in it.

use sparring_wire::{Json, RawJson};

use super::blocks::{Block, fenced};
use super::detect;
use super::kind::Kind;
use super::piece::{Found, Piece, Place};

/// How many blocks of a text are looked at; the others stay in it.
const BLOCKS: usize = 256;

/// A text, and beside it the blocks of data in it. Where there is nothing
/// around those, they stand for the text.
pub(super) fn of_text(
    index: usize,
    item: Json<'_>,
    text: String,
    declared: Option<String>,
) -> Vec<Piece> {
    let place = Place::Item(index);
    if let Some(declared) = declared {
        let read = Piece::declared(place, text.into_bytes(), Some(declared));
        return vec![read.unwrap_or_else(|problem| Piece::malformed(place, item, problem))];
    }
    let found = fenced(&text);
    let of_data =
        found.iter().take(BLOCKS).filter_map(|block| data(block).map(|kind| (block, kind)));
    let blocks: Vec<_> = of_data.collect();
    let is_all =
        !blocks.is_empty() && is_blank_around(&text, blocks.iter().map(|(block, _)| *block));
    let of_blocks = blocks.iter().enumerate().map(|(number, (block, (kind, found)))| {
        let place = Place::Block { item: index, block: number };
        let broken = *kind == Kind::Json && RawJson::parse(block.body).is_err();
        let piece = if broken {
            // Its own text alone: many blocks of one item must not repeat it.
            let body = RawJson::string(block.body);
            Piece::malformed(
                place,
                body.view(),
                format!("the block says `{}` and is no JSON", block.language),
            )
        } else {
            Piece::new(place, *kind, *found, block.body.as_bytes().to_vec())
        };
        Piece { is_shown: is_all, ..piece }
    });
    let mut pieces: Vec<_> = of_blocks.collect();
    if !is_all {
        let kind = if blocks.is_empty() { detect::of_text(&text) } else { Kind::Markdown };
        let small_talk = matches!(kind, Kind::Text | Kind::Markdown);
        let whole = Piece::new(place, kind, Found::Content, text.into_bytes());
        pieces.insert(0, Piece { small_talk, ..whole });
    }
    pieces
}

fn is_blank_around<'a>(text: &str, blocks: impl Iterator<Item = &'a Block<'a>>) -> bool {
    let mut from = 0;
    let mut is_blank = true;
    for block in blocks {
        is_blank &= text[from..block.range.start].trim().is_empty();
        from = block.range.end;
    }
    is_blank && text[from..].trim().is_empty()
}

/// The kind of a block that is data: by its language, or else by itself.
fn data(block: &Block<'_>) -> Option<(Kind, Found)> {
    match block.language.to_ascii_lowercase().as_str() {
        "json" => Some((Kind::Json, Found::Fence)),
        "yaml" | "yml" => Some((Kind::Yaml, Found::Fence)),
        "csv" | "tsv" => Some((Kind::Csv, Found::Fence)),
        "svg" => Some((Kind::Svg, Found::Fence)),
        "" => match detect::of_text(block.body) {
            Kind::Text | Kind::Markdown => None,
            kind => Some((kind, Found::Content)),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_blocks_the_first_are_data_and_the_text_is_kept() {
        let text = "```json\n[1]\n```\n".repeat(BLOCKS + 1);
        let item = RawJson::empty_object();
        let pieces = of_text(0, item.view(), text.clone(), None);
        assert_eq!(pieces.len(), 1 + BLOCKS);
        assert_eq!((pieces[0].kind, pieces[0].text()), (Kind::Markdown, Some(&*text)));
        assert_eq!((pieces[1].kind, pieces[1].text()), (Kind::Json, Some("[1]")));
    }
}
