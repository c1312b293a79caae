# A bank version as it is published.
from .bank_file import SealedBank as SealedBank

# The file `banks/<root>.jsonl` of the bank version, written unless it is there.
from .bank_file import seal_bank as seal_bank

# Where a bank version is read.
from .bank_rows import BankRows as BankRows

# A bank version that is in memory.
from .bank_rows import FrameRows as FrameRows

# The latest bank version in the lake.
from .bank_rows import LakeRows as LakeRows

# The version that stands where a run has no bank.
from .bank_rows import NO_BANK as NO_BANK

# The file of the blinding key.
from .blinding import FILE as FILE

# Why the secret is not the one that the ledger's sets were sealed with; null where it is, or nothing was sealed.
from .blinding import find_blinding_fault as find_blinding_fault

# What stands for a lineage in everything that is published: 32 bytes, the same in every bank version.
from .blinding import lineage_name as lineage_name

# The secret that names and salts are made with; made on first use, for its owner alone. Raises StoreError.
from .blinding import read_blinding_secret as read_blinding_secret

# Check the lines of the ledger, the file against them byte by byte, the heads, and what the log says of sessions.
from .check import check_public_log as check_public_log

# Compare the heads that a witness kept with the log; how many there are, and what does not agree.
from .check import check_witness_file as check_witness_file

# Add what a candidate gives to the seed of a run that is committed to and not drawn; the number of the entry.
from .committing import add_share as add_share

# Commit to a run that is drawn once the value of `source` is known; the plan and the number of the entry.
from .committing import commit_run as commit_run

# Draw a run that is committed to with the value of its beacon, and publish it; its plan.
from .committing import draw_run as draw_run

# Disclose every closed run that is not yet, and bring the public log's file up to the ledger; returns the runs.
from .disclosing import disclose_closed_runs as disclose_closed_runs

# Why closed runs cannot be disclosed: a sentence for each, with its name and the way out; nothing is written.
from .disclosing import find_refused_runs as find_refused_runs

# A JSON value as one line without its newline.
from .files import encode_line as encode_line

# The JSON values of a file of lines.
from .files import iter_lines as iter_lines

# Write lines, each ended by a newline, under another name and move them to their place; returns the SHA-256 as text.
from .files import write_whole as write_whole

# Copy the logs of a public folder for a backup, before the ledger: signed heads first, so that none is beyond the log's copy.
from .folder import copy_logs as copy_logs

# What else lies in a public folder, with its path there: copied after the ledger that names it.
from .folder import list_published as list_published

# Where what is for publication lies.
from .folder import name_public_folder as name_public_folder

# The root of the tree over leaves of 32 bytes; of no leaf it is the SHA-256 of nothing.
from .hashing import compute_root as compute_root

# SHA-256 over a tag and parts, each preceded by its length in four bytes; numbers are their decimal text.
from .hashing import digest as digest

# The entry of the audit log that says that a head was signed.
from .heads import SIGN as SIGN

# The same for whoever has other work to finish: a refusal is logged, and named again by `proctor doctor` and the hourly seal.
from .heads import keep_public_head as keep_public_head

# The same for whoever has other work to finish: a refusal is logged and returned; null where there was none.
from .log_file import keep_public_log as keep_public_log

# The file of the public log.
from .log_file import name_log_file as name_log_file

# Add to the file what it lacks; returns how many lines it was given. Several processes may do it at once.
from .log_file import write_public_log as write_public_log

# Publish a question (its row of `bank_entries`) with its proofs; doing it twice changes nothing.
from .questions import disclose_question as disclose_question

# Note that so many questions left, or came back, with a bank version, for everybody to read.
from .retirement import publish_retirement as publish_retirement

# Add the entries of a run that is planned now: its commitment, unless it is public already, and its draw.
from .sealing import write_draw as write_draw

# The kind of public entry that closes a session.
from .sessions import CLOSE as CLOSE

# Note what a session holds, with the transaction that closes it.
from .sessions import add_closing as add_closing

# Note that a session was opened for the first time, with the transaction that opens it.
from .sessions import add_opening as add_opening

# The root of the tree over a session's answers: the SHA-256 of each one's text by the position of its question.
from .sessions import compute_answers_root as compute_answers_root

# Sign the head of the public log and give it to the witnesses of the settings.
from .task import seal_log as seal_log

# The folder of this home that is for publication; raises UsageError where nothing was published yet.
from .verifying import name_public_files as name_public_files

# Check a published folder; the verifier prints what it finds. Returns whether all holds.
from .verifying import run_verifier as run_verifier

# Witnesses as they are named: `PATH`, `file:PATH` or `command:PROGRAM ARGUMENT …`.
from .witnesses import read_witnesses as read_witnesses

# Bring the files up to the ledger, sign the head, and give it to every witness; one that fails keeps it from no other.
from .witnesses import seal_public_log as seal_public_log

__all__ = [
    "CLOSE",
    "FILE",
    "NO_BANK",
    "SIGN",
    "BankRows",
    "FrameRows",
    "LakeRows",
    "SealedBank",
    "add_closing",
    "add_opening",
    "add_share",
    "check_public_log",
    "check_witness_file",
    "commit_run",
    "compute_answers_root",
    "compute_root",
    "copy_logs",
    "digest",
    "disclose_closed_runs",
    "disclose_question",
    "draw_run",
    "encode_line",
    "find_blinding_fault",
    "find_refused_runs",
    "iter_lines",
    "keep_public_head",
    "keep_public_log",
    "lineage_name",
    "list_published",
    "name_log_file",
    "name_public_files",
    "name_public_folder",
    "publish_retirement",
    "read_blinding_secret",
    "read_witnesses",
    "run_verifier",
    "seal_bank",
    "seal_log",
    "seal_public_log",
    "write_draw",
    "write_public_log",
    "write_whole",
]
