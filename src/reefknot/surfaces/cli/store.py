"""`reefknot store`: how much is stored, is it sound, what may go, and how it moves."""

import os
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from reefknot.errors import FormatError, StoreError, UsageError
from reefknot.flows.carry import export_transcript
from reefknot.flows.files import read_input
from reefknot.store import upkeep
from reefknot.store.bundle import Exported
from reefknot.store.contents import ListedStore, Loaded
from reefknot.store.copies import expire_copies, outputs_folder
from reefknot.surfaces.cli.opened import opened_store
from reefknot.surfaces.cli.output import print_json, print_line, say
from reefknot.surfaces.cli.values import age, show_size, size
from reefknot.surfaces.guard import ExpectedNo, expect_no

__all__ = ["store"]

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Say what would go, and remove nothing.")


@click.group(no_args_is_help=False)
def store() -> None:
    """Look after the stored originals."""


@store.command()
@as_json_option
def stats(as_json: bool) -> int:
    """Show how much is stored."""
    with opened_store() as (opened, _):
        found = upkeep.stats(opened)
    if as_json:
        print_json(asdict(found))
        return 0
    print_line(f"store      {found.location}")
    print_line(f"originals  {found.objects:,}, {show_size(found.size_bytes)}")
    print_line(f"on disk    {show_size(found.file_bytes)} ({show_size(found.stored_bytes)} of it originals)")
    print_line(f"from       {found.sessions:,} sessions, {found.projects:,} projects")
    print_line(f"notes      {found.reductions:,} shortened texts, {found.undos:,} changed records")
    print_line(f"masked     {found.masked_secrets:,} secrets")
    print_line(f"removed    {found.removed:,} originals, once stored")
    if found.oldest is not None and found.newest is not None:
        print_line(f"stored     {_day(found.oldest)} to {_day(found.newest)}")
    return 0


@store.command()
@as_json_option
def verify(as_json: bool) -> int:
    """Read every original and compare it with its digest; exit 1 if anything is wrong."""
    with expect_no(StoreError), opened_store() as (opened, _):
        found = upkeep.verify(opened)
    if as_json:
        print_json({**asdict(found), "sound": found.is_sound})
    else:
        for fault in found.faults:
            print_line(f"fault: {fault}")
        print_line(f"checked: {_counted(found)}")
    if not found.is_sound:
        raise ExpectedNo(f"store {opened.location!r} has {len(found.faults):,} faults: {found.faults[0]}")
    return 0


@store.command()
@click.option("--older-than", type=age, metavar="AGE", help="Remove what was not used for this long: 30d, 12h.")
@click.option("--max-bytes", type=size, metavar="N", help="Then remove the least recently used down to this: 500MB.")
@dry_run_option
@as_json_option
def gc(older_than: float | None, max_bytes: int | None, dry_run: bool, as_json: bool) -> int:
    """Remove originals by age and by size; without either, none goes.

    A marker of a removed original stays readable, but leads to "was removed". Plain copies that have
    expired (setting plain_copies_days) go too.
    """
    now = time.time()
    with opened_store() as (opened, settings):
        gone = upkeep.gc(opened, now=now, older_than_seconds=older_than, max_bytes=max_bytes, dry_run=dry_run)
    copies = 0 if dry_run else expire_copies(outputs_folder(os.environ), days=settings.plain_copies_days, now=now)
    _show_gone(gone, as_json, copies)
    if older_than is None and max_bytes is None:
        say("no policy was given: --older-than AGE or --max-bytes N says what may go")
    return 0


@store.command()
@click.argument("reference", metavar="REF", required=False)
@click.option("--session", metavar="S", help="Remove all that only this session put.")
@click.option("--project", metavar="P", help="Remove all that only this project put.")
@dry_run_option
@as_json_option
def purge(reference: str | None, session: str | None, project: str | None, dry_run: bool, as_json: bool) -> int:
    """Remove one original, or all of a session or a project; their bytes are overwritten."""
    with opened_store() as (opened, _):
        gone = upkeep.purge(opened, reference, session=session, project=project, now=time.time(), dry_run=dry_run)
    _show_gone(gone, as_json)
    return 0


@store.command()
@click.argument("paths", metavar="[TRANSCRIPT] F", nargs=-1, required=True)
@click.option("--overwrite", is_flag=True, help="Replace F if it exists.")
@as_json_option
def export(paths: tuple[str, ...], overwrite: bool, as_json: bool) -> int:
    """Write all originals, or those that TRANSCRIPT refers to, into the bundle F."""
    match paths:
        case (bundle,):
            transcript = None
        case (transcript, bundle):
            pass
        case _:
            raise UsageError("store export: name at most a transcript and a bundle")
    path = Path(bundle)
    if path.exists() and not overwrite:
        raise UsageError(f"store export: {str(path)!r} exists: name another file, or add --overwrite")
    with opened_store() as (opened, _):
        done = _export_transcript(transcript, opened, path) if transcript else upkeep.export(opened, path)
    if as_json:
        print_json(asdict(done))
    else:
        print_line(f"{done.path}: {_counted(done)}, {show_size(done.size_bytes)}")
    for name in done.missing:
        say(f"not in this store: {name}")
    return 0


@store.command(name="import")
@click.argument("path", metavar="F")
@as_json_option
def import_(path: str, as_json: bool) -> int:
    """Take in the bundle F, all or nothing; what is here already stays as it is."""
    with opened_store() as (opened, _):
        done = upkeep.import_bundle(opened, Path(path))
    if as_json:
        print_json({**asdict(done), "renamed": [{"there": there, "here": here} for there, here in done.renamed]})
    else:
        print_line(f"taken in: {_counted(done)}")
    for there, here in done.renamed:
        say(f"the name {there} is another original's here: what it was there is {here} here")
    return 0


def _export_transcript(transcript: str, opened: ListedStore, path: Path) -> Exported:
    data = read_input(Path(transcript))
    try:
        return export_transcript(data, opened, path)
    except FormatError as error:
        raise FormatError(f"{transcript}: {error}") from error


def _show_gone(gone: upkeep.Gone, as_json: bool, copies: int = 0) -> None:
    if as_json:
        print_json({**asdict(gone), "plain_copies": copies})
        return
    verb = "would go" if gone.dry_run else "removed"
    print_line(f"{verb}: {len(gone.names):,} originals, {show_size(gone.stored_bytes)} on disk")
    for name in gone.names if gone.dry_run else ():
        print_line(f"  {name}")
    if gone.reductions or gone.undos:
        print_line(f"with them: {gone.reductions:,} notes on shortened texts, {gone.undos:,} on changed records")
    if gone.kept_elsewhere:
        print_line(f"kept: {gone.kept_elsewhere:,} that another session or project put too")
    if copies:
        print_line(f"removed: {copies:,} expired plain copies")


def _counted(counts: upkeep.Verified | Exported | Loaded) -> str:
    return f"{counts.objects:,} originals, {counts.reductions:,} shortened texts, {counts.undos:,} changed records"


def _day(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"
