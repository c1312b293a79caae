# Let a run spend up to `limit_usd` from now on; the limits before it stay on record.
from .accounts import raise_limit as raise_limit

# The money of a run, or of what stands for one (a league, a month of `ingest --assist`); raises UsageError for neither.
from .accounts import read_run_account as read_run_account

# Whether a request is on its way at this moment; `book` is told the most that each attempt without a bill may have cost.
from .attempts import Flight as Flight

# Sends calls, each as often as it takes; `counts` is told what was `sent` and what was `retried`.
from .attempts import Sender as Sender

# What collecting came to.
from .batch_collection import Collected as Collected

# Ask the provider to stop a batch; returns what it says. What is done by then is collected, and paid for.
from .batch_collection import cancel_open_batch as cancel_open_batch

# Look at every batch that may still answer, and book the results of those that have ended.
from .batch_collection import collect_batches as collect_batches

# Gathers the calls of models that take batches; what other models are asked is sent singly.
from .batching import BatchClient as BatchClient

# Money that one piece of work may spend, shared by all its calls in this process.
from .budget import Budget as Budget

# Cost in USD; null where a price or a count is unknown.
from .budget import compute_cost as compute_cost

# The budget of a run, less what its calls have cost before and cost in other processes now; null for no limit.
from .budget import open_budget as open_budget

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

# Sends calls within the limits of their providers and the budget of the run; an async context manager.
from .client import ModelClient as ModelClient

# SHA-256 of the canonical JSON of everything that makes this call this call.
from .client import compute_call_key as compute_call_key

# The endpoints that are open; close them at the end.
from .endpoints import Endpoints as Endpoints

# The pace of a process that shares its provider with no other one: what `paces.Pace` is for all of an installation.
from .limits import OwnPace as OwnPace

# The limiter of the model's provider, or of the model alone where it has limits of its own.
from .limits import get_limiter as get_limiter

# Key → name of every organisation with models of this kind (real or simulated), and key of another name → key meant.
from .owners import collect_owners as collect_owners

# One record per organisation and kind: names, models, the name in the ledger (null before it is registered), its limit.
from .owners import list_owners as list_owners

# Give every organisation of the registry, and every other name of one, its row in the ledger.
from .owners import register_owners as register_owners

# One model as it is registered.
from .registry import RegisteredModel as RegisteredModel

# The models by name, in the order of the file, and the organisations that own them.
from .registry import Registry as Registry

# The literal that stands for the simulated model server, whose address is known only when it runs.
from .registry import SIMULATED_URL as SIMULATED_URL

# Pass when every model that is about to be used has its key and its address; raises RegistryError for the first without.
from .registry import check_callable as check_callable

# The API key from the environment; a word without meaning where the endpoint needs none.
from .registry import read_api_key as read_api_key

# Read and check the registry; raises RegistryError naming file, model, field and what to do.
from .registry import read_registry as read_registry

# An attempt without a reply.
from .replies import Failure as Failure

# A JSON object in a text.
from .found_objects import FoundObject as FoundObject

# How a reply of a simulated model is marked.
from .replies import SIMULATED_FINGERPRINT as SIMULATED_FINGERPRINT

# What became of the answer. A reply cut at the token limit is truncated even when no text was left.
from .replies import compute_status as compute_status

# A reply without the thinking that it begins with, where a model marks it by tags and says something after it.
from .found_objects import drop_thinking as drop_thinking

# The outermost JSON objects of a text in order; null where their braces are too tangled to be read in due time.
from .found_objects import find_objects as find_objects

# The one JSON object of a reply that has the key, whatever stands around it; null for none, and where several differ.
from .found_objects import parse_json_object as parse_json_object

# What ends a clause, in Chinese and English.
from .voices import CLAUSE_END as CLAUSE_END

# Whether a passage stands in quotation marks, in a block quotation, in a string of broken JSON, or after `the candidate wrote`.
from .voices import is_shown as is_shown

__all__ = [
    "CLAUSE_END",
    "SIMULATED_FINGERPRINT",
    "SIMULATED_URL",
    "BatchClient",
    "Budget",
    "CallFailed",
    "CallPending",
    "CallReply",
    "CallRequest",
    "Collected",
    "Endpoints",
    "Failure",
    "Flight",
    "FoundObject",
    "ModelClient",
    "OwnPace",
    "RegisteredModel",
    "Registry",
    "Sender",
    "cancel_open_batch",
    "check_callable",
    "check_models",
    "collect_batches",
    "collect_owners",
    "compute_call_key",
    "compute_cost",
    "compute_status",
    "drop_thinking",
    "find_objects",
    "get_limiter",
    "is_shown",
    "land_paid_calls",
    "list_owners",
    "open_budget",
    "parse_json_object",
    "raise_limit",
    "read_api_key",
    "read_call_frames",
    "read_registry",
    "read_run_account",
    "register_owners",
]
