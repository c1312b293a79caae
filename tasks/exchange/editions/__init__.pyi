# Note that somebody takes an edition's questions away; raises UsageError for anybody who may not, and for nobody.
from .published import note_export as note_export

# An edition as it is cited: `cff` (Citation File Format 1.2.0), `bibtex`, and one sentence of plain text.
from .published import render_citation as render_citation

# The frozen scores of an edition as JSON values, by prompt style: docs/leaderboard.schema.json says what they are.
from .published import render_leaderboard as render_leaderboard

# All repeats of one candidate under one prompt style.
from .sittings import Sitting as Sitting

# Every candidate and style of an edition, one at a time: no more is held than its repeats.
from .sittings import iter_sittings as iter_sittings

# The edition of that name, or the last one of a run of that name; the last of all without a name.
from .sittings import read_edition as read_edition

# One file `samples_TASK.jsonl` in a folder of each candidate, as `--log_samples` writes it; the task names run and style.
from .writing import write_harness as write_harness

# One JSON log of Inspect (version 2) for each candidate and style; a repeat is an epoch. Returns the files.
from .writing import write_inspect as write_inspect
