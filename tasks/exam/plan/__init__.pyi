# Who sits what.
from .allotment import Allotment as Allotment

# A bank version as the draw sees it. A lineage is known by its position: disciplines follow each other.
from .bank_index import BankIndex as BankIndex

# Index the rows of one bank version (columns of `warehouse/sql/reads/bank_index.sql`).
from .bank_index import index_bank as index_bank

# One question of a set, as drawn.
from .drawing import DrawnQuestion as DrawnQuestion

# The seed of a run: the operator's share, those of candidates in the order of the log, and the beacon's value.
from .drawing import make_seed as make_seed

# The candidates that are due, by name.
from .due import list_due as list_due

# Every candidate of one kind (real or simulated) with what it is due for in `month`.
from .due import read_schedule as read_schedule

# Hashes of 32 bytes.
from .packed import Hashes as Hashes

# UUID → its place among UUIDs that are all different.
from .packed import UuidPlaces as UuidPlaces

# UUIDs as 16 bytes each, in the order of their texts; raises ContractError for what is none as the contract writes it.
from .packed import pack_uuids as pack_uuids

# Pass when a published run examines everybody named; raises UsageError that says how to examine the others.
from .planning import check_same_run as check_same_run

# The plan that follows from the request and from what the ledger holds now, with the allotment that it rests on.
from .planning import compute_plan as compute_plan

# The id of a run, and the repetition that it is (empty: the month's own run).
from .planning import name_run as name_run

# Preview a run; nothing is written.
from .planning import plan_run as plan_run

# Pass when anybody can sit; raises GateError (BankTooSmall where the bank is the reason) with the numbers.
from .publishing import check_served as check_served

# Claim the plan's sets, add its sessions with their secret order, and return the run's id.
from .publishing import publish_plan as publish_plan

# What the seed of a run is mixed from.
from .request import Chance as Chance

# Everything that a plan follows from, besides the ledger.
from .request import PlanRequest as PlanRequest

# What a run would be, or is.
from .run_plan import RunPlan as RunPlan

# A registered model as JSON values, without address and key variable: kept with the run.
from .run_plan import describe_model as describe_model

# The plan as the ledger keeps it with its run; what an earlier version did not keep is empty.
from .run_plan import parse_published as parse_published

# The plan of a published run; raises UsageError when there is none of that name.
from .run_plan import read_plan as read_plan

# What is wished of a run; what is not said is as the settings and the month have it.
from .wishes import RunWishes as RunWishes

# Whether a run is one of simulated candidates: as wished, as those named are, else only where there are no real ones.
from .planning import choose_kind as choose_kind

__all__ = [
    "Allotment",
    "BankIndex",
    "Chance",
    "DrawnQuestion",
    "Hashes",
    "PlanRequest",
    "RunPlan",
    "RunWishes",
    "UuidPlaces",
    "check_same_run",
    "check_served",
    "choose_kind",
    "compute_plan",
    "describe_model",
    "index_bank",
    "list_due",
    "make_seed",
    "name_run",
    "pack_uuids",
    "parse_published",
    "plan_run",
    "publish_plan",
    "read_plan",
    "read_schedule",
]
