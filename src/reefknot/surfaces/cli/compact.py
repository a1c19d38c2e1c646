"""`reefknot compact`: a transcript made shorter, written in the format it came in."""

import gc
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread

import click

from reefknot.compact.pressure import Aim
from reefknot.errors import FormatError, UsageError
from reefknot.flows.files import check_output, write_atomic
from reefknot.flows.pressure import Request, compact_data
from reefknot.formats.registry import FORMATS
from reefknot.model.report import Compacted, Explanation, Report
from reefknot.policy.settings import load_settings
from reefknot.store.opening import open_store
from reefknot.store.trial import TrialStore
from reefknot.surfaces.cli.output import print_bytes, print_json, print_line, say
from reefknot.surfaces.cli.progress import Progress
from reefknot.surfaces.cli.source import read_source
from reefknot.surfaces.guard import fold
from reefknot.surfaces.library import check_judge, copy_plainly
from reefknot.text.tokens import open_counter

__all__ = ["compact"]


@click.command()
@click.argument("file", metavar="FILE|-")
@click.option(
    "--format", "format_name", type=click.Choice(list(FORMATS)), help="Format of FILE; told by its shape otherwise."
)
@click.option("--max-tokens", type=int, metavar="N", help="Size of the whole transcript afterwards.")
@click.option("--keep", type=float, metavar="RATIO", help="Share of the tool-result tokens that may stay, 0 to 1.")
@click.option(
    "--window", type=int, metavar="N", help="Size of the model's context: apply the policy (trigger and target)."
)
@click.option(
    "--used", type=int, metavar="N", help="With --window: tokens in use now; the transcript's own size otherwise."
)
@click.option("--force", is_flag=True, help="With --window: also below the trigger.")
@click.option(
    "--protect", multiple=True, metavar="CALL_ID|TOOL", help="Keep this call, or all calls of this tool, whole."
)
@click.option("--judge", default="rules", metavar="NAME", show_default=True, help="Who decides; rules ask nobody.")
@click.option("--out", metavar="FILE|-", help="Where the shorter transcript goes; without it there is only the report.")
@click.option("--overwrite", is_flag=True, help="Replace --out if it exists.")
@click.option("--explain", metavar="CALL_ID", help="Say why this call's result was kept or cut.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def compact(
    file: str,
    format_name: str | None,
    max_tokens: int | None,
    keep: float | None,
    window: int | None,
    used: int | None,
    force: bool,
    protect: tuple[str, ...],
    judge: str,
    out: str | None,
    overwrite: bool,
    explain: str | None,
    as_json: bool,
) -> int:
    """Make a transcript shorter, with nothing lost.

    What user and agent wrote stays as it is. Old tool results keep the lines of most value, reads become notes, and
    every original is stored first: `reefknot retrieve REF` gives it back, `reefknot restore` gives all back.
    """
    aim = Aim(max_tokens=max_tokens, keep=keep, window=window, used=used, force=force)
    check_judge(judge)
    if out == "-" and as_json:
        raise UsageError("compact: --out - and --json both want standard output: name a file")
    source = None if file == "-" else Path(file)
    if out not in (None, "-"):
        check_output(Path(out), source, overwrite)
    settings = load_settings(os.environ, Path.cwd()).settings
    started = time.perf_counter()
    counter = open_counter(settings.counter, settings.model_family)
    # The vocabulary takes half a second to load, and holds no lock of the interpreter: meanwhile the file is read.
    Thread(target=counter.count, args=("",), daemon=True).start()
    gc.disable()  # a short life with many small values, none in cycles: collecting them is a tenth of the time
    store = open_store(settings.store or None, os.environ)
    with Progress() as progress:
        data = read_source(source)
        request = Request(
            aim=aim,
            store=store if out is not None else TrialStore(store),
            counter=counter,
            settings=settings,
            protect=frozenset(protect),
            on_step=progress.step,
        )
        try:
            compacted = compact_data(data, request, format_name)
        except FormatError as error:
            raise FormatError(f"{file}: {error}") from error
        assert compacted.data is not None
        said = [] if explain is None else _explanations(compacted, explain)
        if out is not None:
            copy_plainly(compacted, request)
        if out not in (None, "-"):
            write_atomic(Path(out), compacted.data, overwrite=overwrite)
    report = replace(compacted.report, seconds=time.perf_counter() - started)
    _show(compacted, report, out, said, as_json)
    return 0


def _show(compacted: Compacted, report: Report, out: str | None, said: Sequence[Explanation], as_json: bool) -> None:
    if as_json:
        extra = {"explanations": [one.to_json() for one in said]} if said else {}
        print_json({**report.to_json(), **extra})
    elif out == "-":
        assert compacted.data is not None
        print_bytes(compacted.data)
        for one in said:
            say(_sentence(one))
    else:
        for line in (*_summary(report), *map(_sentence, said)):
            print_line(line)
    for note in report.notes:
        say(f"note: {note}")
    say(report.line())


def _explanations(compacted: Compacted, call: str) -> list[Explanation]:
    found = [one for one in compacted.explanations if one.call == call]
    if not found:
        raise UsageError(f"--explain {call}: the transcript has no result of such a call")
    return found


def _sentence(one: Explanation) -> str:
    lines = "" if one.lines_total is None else f", {one.lines_kept:,} of {one.lines_total:,} lines"
    where = "" if one.ref is None else f", original {one.ref}"
    size = f"{one.tokens_before:,} -> {one.tokens_after:,} tokens{lines}{where}"
    return fold(f"{one.part} of {one.call}: {one.form} ({size}): {one.reason}")


def _summary(report: Report) -> Iterable[str]:
    yield f"{report.format}, {report.messages:,} messages, {report.calls:,} calls (tokens: {report.counter})"
    yield f"whole      {report.tokens_before:>10,} -> {report.tokens_after:>10,} tokens"
    yield f"results    {report.result_tokens_before:>10,} -> {report.result_tokens_after:>10,} tokens"
    yield "results    " + ", ".join(f"{count:,} {form}" for form, count in report.results.items())
    yield "arguments  " + ", ".join(f"{count:,} {form}" for form, count in report.arguments.items())
    if report.target_tokens is not None:
        yield f"target     {report.target_tokens:,} tokens, {'reached' if report.reached else 'not reached'}"
    if report.masked_secrets:
        yield f"masked     {report.masked_secrets:,} secrets in what was stored"
