"""`reefknot restore`: the knot undone."""

import os
import sys
from pathlib import Path

import click

from reefknot.errors import FormatError, UsageError
from reefknot.flows.files import check_output, read_input, write_atomic
from reefknot.flows.restore import restore_data
from reefknot.policy.settings import load_settings
from reefknot.store.opening import open_store
from reefknot.surfaces.cli.output import print_bytes, print_json, say
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
    data = sys.stdin.buffer.read() if source is None else read_input(source)
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
        print_json({"format": restored.transcript.format, "records": restored.records, "texts": restored.texts})
    say(f"restored: {restored.records:,} records and {restored.texts:,} further texts")
    return 0
