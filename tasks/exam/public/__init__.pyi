# A JSON value as one line without its newline.
from .files import encode_line as encode_line

# The JSON values of a file of lines.
from .files import iter_lines as iter_lines

# Write lines, each ended by a newline, under another name and move them to their place; returns the SHA-256 as text.
from .files import write_whole as write_whole

# The root of the tree over leaves of 32 bytes; of no leaf it is the SHA-256 of nothing.
from .hashing import compute_root as compute_root

# SHA-256 over a tag and parts, each preceded by its length in four bytes; numbers are their decimal text.
from .hashing import digest as digest

# Note what a session holds, with the transaction that closes it.
from .sessions import add_closing as add_closing

# Note that a session was opened for the first time, with the transaction that opens it.
from .sessions import add_opening as add_opening

# The kind of public entry that closes a session.
from .sessions import CLOSE as CLOSE

# The root of the tree over a session's answers: the SHA-256 of each one's text by the position of its question.
from .sessions import compute_answers_root as compute_answers_root

# The folder of this home that is for publication; raises UsageError where nothing was published yet.
from .verifying import name_public_files as name_public_files

# Check a published folder; the verifier prints what it finds. Returns whether all holds; may keep the log's head as a witness.
from .verifying import run_verifier as run_verifier
