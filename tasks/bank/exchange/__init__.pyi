# The formats in which questions leave the bank, by name.
from .formats import FORMATS as FORMATS

# Write the questions in a form of `FORMATS` to a file, or (Inspect, the harness) to a folder; returns how many.
from .formats import write_slice as write_slice

# One record per response and judge of a run to these questions; returns how many.
from .slices import export_run_records as export_run_records

# What is asked of the bank; an empty text means all.
from .slices import Slice as Slice

# Pass when the user runs the exam; raises UsageError for anybody else, and for nobody.
from .slices import check_may_see_answers as check_may_see_answers

# The questions of the latest bank version that the slice asks for, in order of question.
from .slices import read_slice as read_slice
