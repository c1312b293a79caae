# A connection to a Dask cluster; made by `open_cluster`.
from .spreading import Cluster as Cluster

# A client of the scheduler at that address; with `tls://`, certificates are those of Dask's own settings.
from .spreading import connect as connect

# What tells two checkouts of Proctor apart: the beginning of a hash over the modules that pieces can be of.
from .spreading import describe_code as describe_code

# The cluster of the block that this is called in; null where pieces are computed here.
from .spreading import find_cluster as find_cluster

# Within the block, pieces are computed on the cluster that the settings name; by this process where they name none.
from .spreading import open_cluster as open_cluster

# What `function` comes to for each piece (its arguments), in their order; on the cluster where one is open.
from .spreading import spread as spread

__all__ = [
    "Cluster",
    "connect",
    "describe_code",
    "find_cluster",
    "open_cluster",
    "spread",
]
