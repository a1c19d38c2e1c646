"""What the store's compression saves and costs, and how fast it puts and gets; the numbers of docs/adr/0003-store.md.

    REEFKNOT_SHARED=FOLDER python benchmarks/store.py

Tool results come from the shared transcripts (neutral form, 160 of them chosen with a seed); a dictionary is trained on
those of one half of the transcripts and measured on the other half.
"""

import gzip
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from reefknot.model.encoding import to_bytes
from reefknot.store.base import Original
from reefknot.store.sqlite import SqliteStore

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SEED = 1
TRANSCRIPTS = 160
LEVELS = (1, 3, 6, 9, 19)
DICTIONARY_BYTES = 112_640
SINGLE_PUTS = 300


def results(path: Path) -> set[bytes]:
    """The distinct texts of all tool results of a transcript."""
    messages = json.loads(gzip.decompress(path.read_bytes()))["messages"]
    texts = (result.get("text") for message in messages for result in message.get("results", ()))
    return {to_bytes(text) for text in texts if isinstance(text, str) and text}


def halves(shared: Path) -> tuple[list[bytes], list[bytes]]:
    """Results to train on and results to measure on; no text is in both."""
    chance = random.Random(SEED)
    paths = chance.sample(sorted((shared / "transcripts" / "neutral").glob("*.json.gz")), TRANSCRIPTS)
    train: set[bytes] = set().union(*map(results, paths[::2]))
    test: set[bytes] = set().union(*map(results, paths[1::2]))
    return sorted(train), sorted(test - train)


def row(name: str, values: Sequence[bytes], pack: Callable[[bytes], bytes], unpack: Callable[[bytes], bytes]) -> str:
    """One line of the table: share of the bytes that is left, megabytes a second there and back."""
    begin = time.perf_counter()
    packed = [pack(value) for value in values]
    middle = time.perf_counter()
    for value in packed:
        unpack(value)
    end = time.perf_counter()
    total = sum(map(len, values))
    left = sum(min(len(small), len(value)) for small, value in zip(packed, values, strict=True))
    return f"{name:34} {left / total:7.3f} {total / (middle - begin) / 1e6:9.0f} {total / (end - middle) / 1e6:9.0f}"


def compression_table(name: str, values: Sequence[bytes], train: Sequence[bytes] = ()) -> None:
    for level in LEVELS[: -1 if not train else None]:
        print(row(f"{name}, level {level}", values, partial(zstd.compress, level=level), zstd.decompress))
    if not train:
        return
    trained = zstd.train_dict(train, DICTIONARY_BYTES)
    for level in (3, 9):
        # digested once for a level, as a store would
        pack = partial(zstd.compress, level=level, zstd_dict=trained.as_digested_dict)
        unpack = partial(zstd.decompress, zstd_dict=trained.as_digested_dict)
        print(row(f"{name}, level {level}, dictionary", values, pack, unpack))


def store_table(values: Sequence[bytes]) -> None:
    """Rates of puts and gets, and the size of the file beside what was put into it."""
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "store.sqlite3")
        begin = time.perf_counter()
        names = [reference.name for reference in store.put_many([Original(data=value) for value in values])]
        put = time.perf_counter() - begin
        begin = time.perf_counter()
        for name in names:
            store.get(name)
        got = time.perf_counter() - begin
        store.close()
        size = sum(map(len, values))
        held = sum(entry.stored_bytes for entry in store.entries())
        print(f"file: {store.file_bytes() / size:.3f} of the bytes put; values alone: {held / size:.3f}")
        begin = time.perf_counter()
        for value in values[:SINGLE_PUTS]:
            store.put_many([Original(data=value + b"!")])
        single = time.perf_counter() - begin
        store.close()
        count = len(names)
        print(
            f"put_many of {count:,} at once: {count / put:,.0f}/s; "
            f"one at a time: {SINGLE_PUTS / single:,.0f}/s; get: {count / got:,.0f}/s"
        )


def main() -> None:
    shared = Path(os.environ["REEFKNOT_SHARED"])
    train, test = halves(shared)
    sizes = sorted(map(len, test))
    print(f"tool results: {len(test):,}, {sum(sizes):,} bytes, median {sizes[len(sizes) // 2]:,} bytes")
    corpus = [path.read_bytes() for path in sorted((shared / "corpus").glob("*/*")) if path.is_file()]
    print(f"single outputs: {len(corpus):,}, {sum(map(len, corpus)):,} bytes")
    print(f"{'':34} {'left':>7} {'MB/s in':>9} {'MB/s out':>9}")
    compression_table("tool results", test, train)
    compression_table("single outputs", corpus)
    store_table(test)


if __name__ == "__main__":
    main()
