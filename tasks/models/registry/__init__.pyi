# Add a model to the registry's file; raises RegistryError for a name that is registered, and for what it would refuse.
from .adding import add_model as add_model

# Take a model out of the registry's file; raises RegistryError for a name that is not registered, and where another needs it.
from .adding import remove_model as remove_model

# Pass when every model that is about to be used has its key and its address; raises RegistryError for the first without.
from .models import check_callable as check_callable

# Where the model is reached.
from .models import read_address as read_address

# The API key from the environment; a word without meaning where the endpoint needs none.
from .models import read_api_key as read_api_key

# Close the registry as it is; nothing where there is none, or it is closed so already.
from .adding import close_registry as close_registry

# Each model and provider of the file, with all that stands there.
from .adding import read_registry_rows as read_registry_rows

# The unit's name, whatever the file is called.
from .adding import REGISTRY_UNIT as REGISTRY_UNIT

# A registered model as JSON values, without address and key variable: kept with the run.
from .models import describe_model as describe_model

# Read and check the registry; raises RegistryError naming file, model, field and what to do.
from .models import read_registry as read_registry

# One model as it is registered.
from .models import RegisteredModel as RegisteredModel

# The models by name, in the order of the file, and the organisations that own them.
from .models import Registry as Registry

# The literal that stands for the simulated model server, whose address is known only when it runs.
from .models import SIMULATED_URL as SIMULATED_URL

# Key → name of every organisation with models of this kind (real or simulated), and key of another name → key meant.
from .owners import collect_owners as collect_owners

# One record per organisation and kind: names, models, the name in the ledger (null before it is registered), its limit.
from .owners import list_owners as list_owners

# Give every organisation of the registry, and every other name of one, its row in the ledger.
from .owners import register_owners as register_owners

# The lake for reading, with the rows of a team's models alone; raises UsageError for a team that owns none.
from .owners import open_team_lake as open_team_lake

# The models that a team owns now; raises UsageError for a team without any.
from .owners import read_team_models as read_team_models
