"""`reefknot restore`: the knot undone."""

import os
from pathlib import Path

import click

from reefknot.errors import FormatError, UsageError
from reefknot.flows.files import check_output, write_atomic
from reefknot.flows.restore import restore_data
from reefknot.policy.settings import load_settings
from reefknot.store.opening import open_store
from reefknot.surfaces.cli.output import print_bytes, print_json, say
from reefknot.surfaces.cli.source import read_source
from reefknot.surfaces.guard import ExpectedNo

__all__ = ["restore"]


@click.command()
@click.argument("file", metavar="FILE|-")
@click.option("--out", metavar="FILE|-", help="Where the whole transcript goes; standard output otherwise.")
@click.option("--overwrite", is_flag=True, help="Replace --out if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print what was put back as one JSON object.")
def restore(file: str, out: str | None, overwrite: bool, as_json: bool) -> int:
    """Put every original back into a transcript that was compacted, once or many times.

    A session file comes back byte for byte, secrets masked. Where an original is no longer in the store nothing is
    written.
    """
    source = None if file == "-" else Path(file)
    if out in (None, "-") and as_json:
        raise UsageError("restore: --json wants standard output: name a file with --out")
    if out not in (None, "-"):
        check_output(Path(out), source, overwrite)
    settings = load_settings(os.environ, Path.cwd()).settings
    data = read_source(source)
    try:
        restored = restore_data(data, open_store(settings.store or None, os.environ))
    except FormatError as error:
        raise FormatError(f"{file}: {error}") from error
    if restored.message:
        raise ExpectedNo(f"{file}: {restored.message}")
    assert restored.data is not None
    if out in (None, "-"):
        print_bytes(restored.data)
    else:
        write_atomic(Path(out), restored.data, overwrite=overwrite)
    if as_json:
        print_json(
            {
                "format": restored.transcript.format,
                "records": restored.records,
                "texts": restored.texts,
                "unknown_references": list(restored.strangers),
            }
        )
    if restored.strangers:
        count, first = len(restored.strangers), restored.strangers[0]
        say(
            f"note: {count:,} references in it were never in this store, as {first!r}: "
            "they are quotes, or another store has their originals"
        )
    say(f"restored: {restored.records:,} records and {restored.texts:,} further texts")
    return 0
