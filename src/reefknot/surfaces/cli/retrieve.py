"""`reefknot retrieve`: any part of a stored original."""

import click

from reefknot.errors import StoreError, UsageError
from reefknot.flows.retrieve import Retrieved
from reefknot.flows.retrieve import retrieve as retrieve_part
from reefknot.surfaces.cli.opened import opened_store
from reefknot.surfaces.cli.output import print_bytes, print_json, print_text, say
from reefknot.surfaces.guard import expect_no

__all__ = ["retrieve"]


@click.command()
@click.argument("reference", metavar="REF")
@click.option("--raw", is_flag=True, help="Write the stored bytes, all of them and nothing else.")
@click.option("--lines", metavar="A:B", help="Lines A to B, both included, counted from 1; A: and :B are open.")
@click.option("--grep", metavar="RE", help="Lines in which this regular expression is found.")
@click.option("--context", type=int, default=0, metavar="N", help="With --grep: N lines before and after each.")
@click.option("-i", "ignore_case", is_flag=True, help="With --grep: upper and lower case are the same.")
@click.option("--limit", type=int, metavar="N", help="At most N matching lines, or N lines without --grep.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def retrieve(
    reference: str,
    raw: bool,
    lines: str | None,
    grep: str | None,
    context: int,
    ignore_case: bool,
    limit: int | None,
    as_json: bool,
) -> int:
    """Give any part of a stored original back.

    REF is the name in a marker, `[reefknot REF: ...]`, or in a report. Without options the whole original is given.
    """
    if raw and (as_json or lines is not None or grep is not None or limit is not None):
        raise UsageError("retrieve: --raw gives all stored bytes as they are: it goes with no other option")
    if grep is None and (context or ignore_case):
        raise UsageError("retrieve: --context and -i go with --grep")
    with expect_no(StoreError), opened_store() as (store, settings):
        found = retrieve_part(
            store,
            reference,
            lines=lines,
            grep=grep,
            context=context,
            ignore_case=ignore_case,
            limit=limit,
            timeout_seconds=settings.grep_timeout_seconds,
        )
    if raw:
        print_bytes(found.data)
    elif as_json:
        print_json(found.as_json())
    else:
        print_text(found.text)
        _tell_of_limits(found)
    return 0


def _tell_of_limits(found: Retrieved) -> None:
    """What was left out, for people; the text itself is verbatim."""
    part = found.part or {}
    numbers = part.get("line_numbers")
    if not part.get("limited"):
        return
    if isinstance(numbers, list):
        say(f"{len(numbers):,} of {found.total_matches:,} matching lines shown; --limit N shows more")
    else:
        say(f"limited; {found.reference} has {found.total_lines:,} lines")
