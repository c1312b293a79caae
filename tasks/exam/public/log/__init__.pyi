# Check the lines of the ledger, the file against them byte by byte, the heads, and what the log says of sessions.
from .check import check_public_log as check_public_log

# Compare the heads that a witness kept with the log; how many there are, and what does not agree.
from .check import check_witness_file as check_witness_file

# Copy the logs of a public folder for a backup, before the ledger: signed heads first, so that none is beyond the log's copy.
from .folder import copy_logs as copy_logs

# What else lies in a public folder, with its path there: copied after the ledger that names it.
from .folder import list_published as list_published

# Where what is for publication lies.
from .folder import name_public_folder as name_public_folder

# The same for whoever has other work to finish: a refusal is logged, and named again by `proctor doctor` and the hourly seal.
from .heads import keep_public_head as keep_public_head

# The entry of the audit log that says that a head was signed.
from .heads import SIGN as SIGN

# The same for whoever has other work to finish: a refusal is logged and returned; null where there was none.
from .log_file import keep_public_log as keep_public_log

# The file of the public log.
from .log_file import name_log_file as name_log_file

# Add to the file what it lacks; returns how many lines it was given. Several processes may do it at once.
from .log_file import write_public_log as write_public_log

# Note that so many questions left, or came back, with a bank version, for everybody to read.
from .retirement import publish_retirement as publish_retirement

# Note how many questions of the bank review has rejected since it accepted them, for everybody to read.
from .task import note_rejections as note_rejections

# Sign the head of the public log and give it to the witnesses of the settings.
from .task import seal_log as seal_log

# What became of a head with a witness: given now, known to it already, or failed.
from .witnesses import WitnessedHead as WitnessedHead

# Give the log's head to the witnesses that the settings name; what became of it, empty where none is named.
from .witnesses import tell_witnesses as tell_witnesses

# Witnesses as they are named: `PATH`, `file:PATH` or `command:PROGRAM ARGUMENT …`.
from .witnesses import read_witnesses as read_witnesses

# What was given to which witness, in the order of the file.
from .witnesses import read_told as read_told

# Bring the files up to the ledger, sign the head, and give it to every witness; one that fails keeps it from no other.
from .witnesses import seal_public_log as seal_public_log
