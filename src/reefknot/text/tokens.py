"""Token counters behind one small protocol."""

from collections.abc import Sequence
from typing import Protocol

__all__ = ["TokenCounter"]


class TokenCounter(Protocol):
    """Counts tokens of texts. `name` goes into every report beside the numbers that it made."""

    name: str

    def count(self, text: str) -> int: ...

    def count_many(self, texts: Sequence[str]) -> list[int]: ...
