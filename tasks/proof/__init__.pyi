# Walk from the stars of an answer back to the page of its question.
from .explain import explain_answer as explain_answer

# The one session of a run that is meant; `run_id` may be a session's id.
from .explain import find_sitting as find_sitting

# What findings are called of landings that were closed and did not come, as after a kill.
from .stages import UNLANDED as UNLANDED

# Compare every unit of every stage with what closed it.
from .stages import check_stages as check_stages

# Close the report as it was written.
from .stages import close_report as close_report

# SHA-256 of a file of the report, without the moment in the footer of a page.
from .stages import hash_report_file as hash_report_file
