"""What a transcript needs of a store, so that it can move to another machine with its originals."""

from collections.abc import Iterator
from pathlib import Path

from reefknot.flows.restore import shortened_texts
from reefknot.formats.registry import parse
from reefknot.model.reference import find_names
from reefknot.model.transcript import Transcript
from reefknot.store.base import Store
from reefknot.store.bundle import Exported, export
from reefknot.store.contents import ListedStore
from reefknot.store.digest import digest_bytes, digest_text

__all__ = ["export_transcript", "references_of"]


def export_transcript(data: bytes, store: ListedStore, path: Path, format: str | None = None) -> Exported:
    """Write all that a transcript's content refers to into a bundle; see `reefknot.store.bundle.export`.

    Raises:
        FormatError: the content is no transcript that can be read.
    """
    return export(store, path, references_of(parse(data, format), store))


def references_of(transcript: Transcript, store: Store) -> tuple[str, ...]:
    """All that a transcript refers to, each once: changed records, originals, and the names in its markers.

    A name may be a quote, and need not be in the store.
    """
    return tuple(dict.fromkeys(_references(transcript, store)))


def _references(transcript: Transcript, store: Store) -> Iterator[str]:
    for record in transcript.source.records:
        if record.raw is not None and store.undo_of(changed := digest_bytes(record.raw)):
            yield changed
    for _, text, holder, _, _ in shortened_texts(transcript):
        if reduction := store.reduction_of(digest_text(text), holder):
            yield reduction.original
        yield from find_names(text)
