# Land the calls that a stage paid for and was killed before it landed them; returns rows newly landed by table.
from .call_frames import land_paid_calls as land_paid_calls

# Rows of `llm_calls` by unit; `months` gives the month of every unit asked for.
from .call_frames import read_call_frames as read_call_frames

# Ask every model, all at once within the limits of their providers; each call stands in the ledger as any paid one.
from .check import check_models as check_models

# A call did not succeed after all its attempts. It stays in the ledger as failed; the next command sends it again.
from .client import CallFailed as CallFailed

# A call is in a batch under way, or is to go into one: its reply is there when the batch has ended.
from .client import CallPending as CallPending

# What came back. `cost_usd` is the cost of this reply, also when it is replayed: it was paid once.
from .client import CallReply as CallReply

# What is asked of a model.
from .client import CallRequest as CallRequest

# SHA-256 of the canonical JSON of everything that makes this call this call.
from .client import compute_call_key as compute_call_key

# Sends calls within the limits of their providers and the budget of the run; an async context manager.
from .client import ModelClient as ModelClient

# A client whose calls are jobs of their run, where the ledger is on a server: any worker makes them.
from .shared import SharedClient as SharedClient

# Kind of the jobs that calls are.
from .shared import CALL as CALL

# Make what calls wait of a run, until none does; returns counts.
from .shared import help_with_calls as help_with_calls

# What became of the answer. A reply cut at the token limit is truncated even when no text was left.
from .replies import compute_status as compute_status

# An attempt without a reply.
from .replies import Failure as Failure

# How a reply of a simulated model is marked.
from .replies import SIMULATED_FINGERPRINT as SIMULATED_FINGERPRINT

# What a picture takes of a model's input at most, in tokens.
from .picture_parts import MOST_PICTURE_TOKENS as MOST_PICTURE_TOKENS

# A picture that goes with a request: the mark that names it there, and its bytes.
from .picture_parts import SentPicture as SentPicture

# The messages with each picture after the mark that names it in the last one, in OpenAI's form.
from .picture_parts import attach_pictures as attach_pictures

# The pictures of a question as they are sent to a model; raises StoreError for one that is lost or changed.
from .picture_parts import load_pictures as load_pictures

# The messages with their texts alone, and how many pictures they have.
from .picture_parts import part_pictures as part_pictures

# Media type and base64 of a picture's part.
from .picture_parts import read_data_address as read_data_address
