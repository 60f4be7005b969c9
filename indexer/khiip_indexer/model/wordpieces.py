"""BERT's word pieces: a text as the numbers that the model reads, and where each piece stood."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from khiip_indexer.errors import ModelError
from khiip_indexer.model import files as model_files
from khiip_indexer.types import Spans

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SPECIAL_PIECES = 2
_LONGEST_WORD = 100  # characters; the model takes a longer word for an unknown one
_ROOM_PER_PIECE = 256  # characters, far above any real text's
_UNKNOWN_LENGTH = 2  # characters of a word that is not in the vocabulary that count as one piece
_SURROGATES = re.compile("[\ud800-\udfff]")


class WordPieces:
    """BERT's tokenizer with its cut-off and padding set by us: neither.

    Safe in several threads.
    """

    def __init__(self, vocabulary: Path) -> None:
        tokenizer = _read_tokenizer(vocabulary)
        # A tokenizer.json may carry both (128 pieces, padded to 128) without a word.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self.tokenizer = tokenizer
        self._first = self._special("[CLS]", vocabulary)
        self._last = self._special("[SEP]", vocabulary)
        self._unknown = self._special("[UNK]", vocabulary)

    def _special(self, piece: str, vocabulary: Path) -> int:
        number = self.tokenizer.token_to_id(piece)
        if number is None:
            raise ModelError(
                f"The vocabulary {vocabulary} has no {piece}: it is not one of a BERT model.",
                hint="Use a model with a BERT tokenizer, or leave `model_dir` out.",
            )
        return int(number)

    def ids(self, text: str, window: int) -> list[int]:
        """The numbers of the first pieces that fit, between the two special ones."""
        # A text of megabytes is not cut into pieces as a whole to keep 254 of them.
        head = _clean(text[: window * _ROOM_PER_PIECE])
        pieces = self.tokenizer.encode(head, add_special_tokens=False).ids
        return [self._first, *pieces[: window - SPECIAL_PIECES], self._last]

    def spans(self, text: str) -> Spans:
        """The (start, end) of every piece in code points of `text`, without special pieces."""
        offsets: list[tuple[int, int]]
        offsets = self.tokenizer.encode(_clean(text), add_special_tokens=False).offsets
        return offsets

    def measures(self, text: str) -> Spans:
        """The same, for cutting a text: an unknown word counts as pieces of two characters.

        To this model such a word is one piece, so that a window of Thai would hold twenty
        thousand characters.
        """
        encoding = self.tokenizer.encode(_clean(text), add_special_tokens=False)
        offsets: list[tuple[int, int]] = encoding.offsets
        if text.isascii() or self._unknown not in (numbers := encoding.ids):
            return offsets
        return [
            piece
            for number, span in zip(numbers, offsets, strict=True)
            for piece in (_halves(*span) if number == self._unknown else (span,))
        ]


def _halves(start: int, end: int) -> list[tuple[int, int]]:
    step = _UNKNOWN_LENGTH
    return [(at, min(at + step, end)) for at in range(start, end, step)]


class AnyPieces:
    """The tokenizer of any model, with its own special pieces; cut-off and padding set by us.

    Safe in several threads.
    """

    def __init__(self, vocabulary: Path) -> None:
        self.tokenizer = _read_tokenizer(vocabulary)
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.special = self.tokenizer.num_special_tokens_to_add(False)
        if self.special == 0 and (ends := self._ends()):
            _frame(self.tokenizer, ends)
            self.special = len(ends)

    def _ends(self) -> tuple[tuple[str, int], ...]:
        """A bare vocabulary says nothing of special pieces: those of BERT, where it has them."""
        if self.tokenizer.post_processor is not None:
            return ()
        numbers = ((name, self.tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]"))
        found = tuple((name, number) for name, number in numbers if number is not None)
        return found if len(found) == 2 else ()

    def ids(self, text: str, window: int) -> list[int]:
        """The numbers of the first pieces that fit, special ones among them."""
        head = _clean(text[: window * _ROOM_PER_PIECE])
        encoding = self.tokenizer.encode(head, add_special_tokens=False)
        encoding.truncate(max(1, window - self.special))
        ids: list[int] = self.tokenizer.post_process(encoding).ids
        return ids

    def count(self, text: str) -> int:
        """How many pieces a text has, without special ones."""
        return len(self.tokenizer.encode(_clean(text), add_special_tokens=False).ids)

    def spans(self, text: str) -> Spans:
        """The (start, end) of every piece in code points of `text`, without special pieces."""
        offsets: list[tuple[int, int]]
        offsets = self.tokenizer.encode(_clean(text), add_special_tokens=False).offsets
        return offsets


def _frame(tokenizer: Tokenizer, ends: tuple[tuple[str, int], ...]) -> None:
    from tokenizers.processors import BertProcessing

    first, last = ends
    tokenizer.post_processor = BertProcessing(last, first)


def _clean(text: str) -> str:
    # Half a character cannot be encoded; U+FFFD takes its place, so that offsets hold.
    return _SURROGATES.sub("\ufffd", text)


def _read_tokenizer(vocabulary: Path) -> Tokenizer:
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    try:
        if vocabulary.suffix == ".json":
            return Tokenizer.from_str(vocabulary.read_text(encoding="utf-8"))
        pieces = vocabulary.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise model_files.missing(vocabulary, model_files.VOCABULARY_SHA256) from error
    except Exception as error:  # tokenizers raises bare Exception for a file it cannot read
        raise ModelError(f"The tokenizer {vocabulary} cannot be read: {error}") from error
    numbers = {piece: number for number, piece in enumerate(pieces)}
    model = models.WordPiece(numbers, unk_token="[UNK]", max_input_chars_per_word=_LONGEST_WORD)  # noqa: S106
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=True, lowercase=True
    )
    # Thai, Lao and runs of kana are written without spaces: as one word they would be unknown.
    # The pattern matches nothing in a shorter word, so that those are not copied.
    shorter = pre_tokenizers.Split(Regex(f".{{{_LONGEST_WORD}}}"), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.BertPreTokenizer(), shorter])
    return tokenizer
