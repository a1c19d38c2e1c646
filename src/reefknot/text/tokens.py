"""Token counters behind one small protocol: exact, estimated, cached, scaled to another model family.

`open_counter` gives the counter that a setting names. Every counter has a `name`, which goes into each report
beside the numbers that it made, and a `margin`: how far it may be off, as a share, in nine texts of ten. Nothing
is loaded when this module is imported; the exact vocabulary (half a second, 90 MB) comes with the first count.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib import import_module
from itertools import pairwise
from math import ceil
from threading import Lock
from typing import Any, Protocol, cast

from reefknot.errors import ConfigError
from reefknot.text.token_estimate import MARGIN, estimate_tokens

__all__ = [
    "FAMILIES",
    "CachedCounter",
    "EstimatedCounter",
    "ExactCounter",
    "ModelFamily",
    "ScaledCounter",
    "TokenCounter",
    "margin_of",
    "open_counter",
]

PIECE_CHARS = 4_000_000  # longer texts are counted in pieces, so that memory stays near 150 MB
CUT_WINDOW_CHARS = 4_096  # how far back from the end of a piece a cut that changes no count is sought
BATCH_CHARS = 32_000_000  # from here on the parallel batch call wins back the import of numpy that it needs
CACHED_COUNTS = 65_536  # about 12 MB of digests and numbers

# Places where o200k's pattern always ends one pre-token and starts the next, whatever stands around:
# after a line end (slashes and white space may still belong to it), between an ASCII letter and a digit, and
# after an ASCII letter or digit when ASCII that is neither follows (an apostrophe may begin a contraction).
_CUT = r"\n(?=[^\s/])|[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])|[0-9A-Za-z](?=[\t\n\r -&(-/:-@\[-`{-~])"
_SURROGATE = "[\ud800-\udfff]"


class TokenCounter(Protocol):
    """Counts tokens of texts. `name` goes into every report beside the numbers that it made."""

    name: str

    def count(self, text: str) -> int: ...

    def count_many(self, texts: Sequence[str]) -> list[int]: ...


class _Tokenizer(Protocol):
    """The part of quicktok that is used; the package has no types of its own."""

    def count(self, text: str) -> int: ...

    def encode_ordinary(self, text: str) -> list[int]: ...

    def encode_batch(self, texts: Sequence[str]) -> tuple[Any, Any]: ...  # uint32 tokens, int64 offsets of each text


class ExactCounter:
    """Counts o200k tokens exactly, offline; the vocabulary is loaded at the first count.

    The text of a special token, as `<|endoftext|>`, is ordinary text. Halves of surrogate pairs and undecodable
    bytes count as U+FFFD. Memory is bounded for a text of any size; a text of more than `PIECE_CHARS` without one
    safe place to cut in `CUT_WINDOW_CHARS` (millions of one letter, CJK without line ends) may count
    a token or two too many at each cut.

    >>> ExactCounter().count("hello world"), ExactCounter().count("<|endoftext|>"), ExactCounter().count("")
    (2, 7, 0)
    """

    name = "o200k"
    margin = 0.0

    def __init__(self) -> None:
        self._loaded: _Tokenizer | None = None
        self._lock = Lock()

    def count(self, text: str) -> int:
        if len(text) <= PIECE_CHARS:
            return _count_piece(self._tokenizer(), text)
        return sum(_count_piece(self._tokenizer(), piece) for piece in _pieces(text, PIECE_CHARS))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """The counts in order; many megabytes at once are counted on all cores."""
        if sum(map(len, texts)) < BATCH_CHARS or max(map(len, texts)) > PIECE_CHARS:
            return [self.count(text) for text in texts]
        counts: list[int] = []
        for group in _groups(texts, BATCH_CHARS):
            _, offsets = self._tokenizer().encode_batch([_well_formed(text) for text in group])
            counts.extend(int(end - start) for start, end in pairwise(offsets))
        return counts

    def _tokenizer(self) -> _Tokenizer:
        with self._lock:  # a door may load ahead, in a thread of its own
            return self._loaded or self._load()

    def _load(self) -> _Tokenizer:
        if self._loaded is None:
            quicktok = cast("Any", import_module("quicktok"))  # half a second: only who counts exactly pays for it
            self._loaded = cast("_Tokenizer", quicktok.get_encoding("o200k_base"))
        return self._loaded


def _count_piece(tokenizer: _Tokenizer, text: str) -> int:
    try:
        return tokenizer.count(text)
    except ValueError:  # the text of a special token stands in it
        return len(tokenizer.encode_ordinary(text))
    except TypeError:  # surrogates have no UTF-8
        return _count_piece(tokenizer, _well_formed(text))


def _well_formed(text: str) -> str:
    return re.sub(_SURROGATE, "\ufffd", text)


def _pieces(text: str, size: int) -> Iterator[str]:
    """Pieces of at most `size` characters, cut where no token can cross if there is such a place."""
    cut_places = re.compile(_CUT)
    start = 0
    while len(text) - start > size:
        end = start + size
        cuts = [cut.end() for cut in cut_places.finditer(text, max(start, end - CUT_WINDOW_CHARS), end + 1)]
        end = next((cut for cut in reversed(cuts) if start < cut <= end), end)
        yield text[start:end]
        start = end
    yield text[start:]


def _groups(texts: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Runs of texts of about `size` characters together: what the batch call holds in memory at once."""
    start, total = 0, 0
    for end, text in enumerate(texts):
        total += len(text)
        if total >= size:
            yield texts[start : end + 1]
            start, total = end + 1, 0
    if start < len(texts):
        yield texts[start:]


class EstimatedCounter:
    """Estimates o200k tokens without a vocabulary: nothing to load, for processes that live for one call.

    `margin` is the relative error that nine texts of ten stay within; decisions leave that much room.
    Its error by kind of text is in docs/adr/0002-token-counting.md.

    >>> EstimatedCounter().count("")
    0
    """

    name = "o200k estimate"
    margin = MARGIN

    def count(self, text: str) -> int:
        return estimate_tokens(text)

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [estimate_tokens(text) for text in texts]


class CachedCounter:
    """Remembers counts by digest of the text; the texts themselves are not kept.

    At most `size` counts are remembered; those unused for longest go first.

    >>> counter = CachedCounter(EstimatedCounter())
    >>> counter.count("hello world") == counter.count("hello world")
    True
    """

    def __init__(self, counter: TokenCounter, size: int = CACHED_COUNTS) -> None:
        self.name = counter.name
        self.margin: float = margin_of(counter)
        self._counter = counter
        self._size = size
        self._counts: OrderedDict[bytes, int] = OrderedDict()  # digest of a text -> its tokens

    def count(self, text: str) -> int:
        return self.count_many((text,))[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """The counts in order; each distinct unknown text is counted once."""
        keys = [_digest(text) for text in texts]
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._counts}
        found = dict(zip(unknown, self._counter.count_many(list(unknown.values())), strict=True)) if unknown else {}
        counts = [found[key] if key in found else self._counts[key] for key in keys]
        for key, tokens in zip(keys, counts, strict=True):
            self._counts[key] = tokens
            self._counts.move_to_end(key)
        while len(self._counts) > self._size:
            self._counts.popitem(last=False)
        return counts


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFamily:
    """How many tokens another family of models makes of one o200k token, and how far that may be off."""

    factor: float
    margin: float  # relative error that nine texts of ten stay within


# How they were measured, and on what: docs/adr/0002-token-counting.md.
FAMILIES: Mapping[str, ModelFamily] = {
    "claude-3": ModelFamily(factor=1.18, margin=0.16),  # Claude 3 up to 4.6
    "claude-4": ModelFamily(factor=1.47, margin=0.26),  # Claude 4.7 and newer
}


class ScaledCounter:
    """Counts for another model family: those of `counter` times a measured factor, rounded up.

    The factor is an average over tool outputs: rough, and the name says so.

    Raises:
        ConfigError: no factor is known for the family.

    >>> ScaledCounter(ExactCounter(), "claude-4").name
    'o200k*1.47 (claude-4)'
    """

    def __init__(self, counter: TokenCounter, family: str) -> None:
        if family not in FAMILIES:
            raise ConfigError(f"model family {family!r} is not known: use one of o200k, {', '.join(FAMILIES)}")
        self._counter = counter
        self._factor = FAMILIES[family].factor
        self.name = f"{counter.name}*{self._factor:.2f} ({family})"
        self.margin = margin_of(counter) + FAMILIES[family].margin

    def count(self, text: str) -> int:
        return ceil(self._counter.count(text) * self._factor)

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [ceil(tokens * self._factor) for tokens in self._counter.count_many(texts)]


def margin_of(counter: TokenCounter) -> float:
    """The relative error that nine texts of ten stay within; 0 for a counter that does not say.

    >>> margin_of(ExactCounter())
    0.0
    """
    return float(getattr(counter, "margin", 0.0))


def open_counter(name: str, family: str = "o200k") -> TokenCounter:
    """The counter that a setting names, cached by digest, scaled when the model is of another family.

    Raises:
        ConfigError: the counter has no such name, or no factor is known for the family.

    >>> open_counter("estimate").name, open_counter("o200k", family="claude-4").name
    ('o200k estimate', 'o200k*1.47 (claude-4)')
    """
    if name not in ("o200k", "estimate"):
        raise ConfigError(f"counter {name!r}: expected 'o200k' or 'estimate'")
    counter: TokenCounter = CachedCounter(ExactCounter() if name == "o200k" else EstimatedCounter())
    return counter if family == "o200k" else ScaledCounter(counter, family)
