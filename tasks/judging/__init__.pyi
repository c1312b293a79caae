# How a response speaks to its judge: `order`, `stars`, `reply`, `marker`, `section` or `role`; null where it does not.
from .addresses import find_address as find_address

# Names the calls of one session's judgements; responses and registry are read once.
from .helping import CallFinder as CallFinder

# How far a model's labels agree with people's: responses with both, kappa with interval, shares of classes.
from .error_samples import compare_labels as compare_labels

# What judging runs of a kind rests on: the wordings in use, ours where there are no judges yet, and of each judge its identity.
from .asking import describe_judging as describe_judging

# What judging the answers of a run is expected to cost by judge, by what the answers of its candidates have cost before.
from .costs import estimate_answers as estimate_answers

# What so many judgements are expected to cost in USD; null when the registry has no price.
from .costs import estimate_judging as estimate_judging

# Draw failed responses of a judged run by candidate and land `error_samples`; the same again changes nothing.
from .error_samples import draw_failures as draw_failures

# Write the workbook of a sample and return how many responses it holds.
from .error_samples import export_failures as export_failures

# Judge what waits of a run that another process conducts, until nothing does; returns counts.
from .helping import help_to_judge as help_to_judge

# Land the classes that a person gave; the same workbook again changes nothing, an emptied cell takes nothing back.
from .error_samples import import_failures as import_failures

# Let a model label a sample (by default the one drawn last) and land its labels with their calls.
from .error_samples import prelabel_failures as prelabel_failures

# A simulated labeller knows the request by this line.
from .error_labels import REQUEST as REQUEST

# Write the workbook of the responses that nobody could be read of, of a run or of all; returns how many there are.
from .people import export_unparsed as export_unparsed

# Land the stars that a person gave. The same workbook again changes nothing: what has stars waits no longer.
from .people import import_unparsed as import_unparsed

# What stands in a judge's prompt.
from .prompts import JudgedParts as JudgedParts

# Recorded with every judgement: a changed word below needs a new version (a test compares).
from .prompts import VERSION as VERSION

# Question, response and reference inside a judge's prompt; null when there are none.
from .prompts import extract_judged as extract_judged

# Judge what a run's candidates answered and no judge has judged; an empty id means every run.
from .task import judge_run as judge_run
