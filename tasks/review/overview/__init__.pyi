# A batch in detail.
from .progress import BatchDetail as BatchDetail

# Every batch, the newest first.
from .progress import list_batch_summaries as list_batch_summaries

# One batch by discipline and annotator; raises UsageError for an unknown one.
from .progress import read_batch_detail as read_batch_detail

# How far a batch is: questions by state (`accepted rejected waiting disputed`), and who still owes decisions.
from .progress import BatchProgress as BatchProgress

# Whether every question of the batch is settled, disputes included.
from .progress import is_complete as is_complete

# Whether the batch can be closed: complete, or its deadline has passed.
from .progress import is_ready_to_close as is_ready_to_close

# Whether nothing is waited for: every review is in and no dispute is left.
from .progress import is_settled as is_settled

# How far every batch is, the oldest first.
from .progress import list_progress as list_progress

# What every annotator has to do, in all open batches or one, by name: those who are active, and others with open work.
from .progress import list_workloads as list_workloads

# Where every question of the batch stands, by UUID; `question_uuids` takes only these.
from .progress import read_outcomes as read_outcomes

# What somebody has to do in the batches that are open.
from .progress import Workload as Workload

# A letter.
from .reminders import Reminder as Reminder

# Hand the letters to the configured mail server; each says whether it went, and why not.
from .reminders import send_reminders as send_reminders

# A letter for everybody with open work, in one batch or all, by name.
from .reminders import write_reminders as write_reminders
