# The first wait after a failed attempt, in seconds; each further one is twice as long.
from .attempts import BACKOFF_S as BACKOFF_S

# What the ledger keeps of a reply, at the model's prices.
from .attempts import describe_done as describe_done

# The most that one attempt can cost, in USD.
from .attempts import estimate_worst_cost as estimate_worst_cost

# Whether a request is on its way at this moment; `book` is told the most that each attempt without a bill may have cost.
from .attempts import Flight as Flight

# How often one call is attempted.
from .attempts import MOST_ATTEMPTS as MOST_ATTEMPTS

# Sets an amount aside in each of several budgets, or in none.
from .attempts import reserve_in_all as reserve_in_all

# Sends calls, each as often as it takes; `counts` is told what was `sent` and what was `retried`.
from .attempts import Sender as Sender

# What came of a call, the attempts that were made, and the wall time of the last one.
from .attempts import Sent as Sent

# The endpoints that are open; close them at the end.
from .endpoints import Endpoints as Endpoints

# The limiter of the model's provider, or of the model alone where it has limits of its own.
from .limits import get_limiter as get_limiter

# The pace of a process that shares its provider with no other one: what `paces.Pace` is for all of an installation.
from .limits import OwnPace as OwnPace

# The moments of one provider, or of one model with limits of its own.
from .paces import Pace as Pace

# The pauses that providers have asked any process for.
from .paces import Pauses as Pauses
