# Conduct a run while the block runs; where another flow does so already, this one works beside it.
from .conductor import conducting as conducting

# Put there what is left of a run and work on it, until nothing is left but what has failed too often.
from .crew import conduct as conduct

# The jobs that this process does now: as many at once as there is room for in each lane.
from .crew import Crew as Crew

# Jobs whose outcome is needed here, whoever does them.
from .crew import Turns as Turns

# Kind of the job that whoever conducts a run holds.
from .conductor import CONDUCTED as CONDUCTED

# What the lanes of jobs begin with whose calls go into batches: one process collects them, and nobody helps.
from .queue import IN_BATCHES as IN_BATCHES

# How often a job is tried, by whichever processes.
from .queue import MOST_TRIES as MOST_TRIES

# Jobs of one kind that several processes share: each is one process's at a time.
from .queue import JobQueue as JobQueue

# Processes that share a run now: this one, and one for every other worker of the installation.
from .queue import count_sharers as count_sharers

# Where `proctor worker` says to what it starts which worker it is on.
from .queue import WORKER_VARIABLE as WORKER_VARIABLE

# The pool of our workers; those of other kinds are named `proctor-KIND`.
from .queue import WORK_POOL as WORK_POOL
