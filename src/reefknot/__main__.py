"""`python -m reefknot` is the command `reefknot`."""

from reefknot.surfaces.cli.main import main

main()
