# Let these files hold for all hosts as this one has them; the audit log says who did so.
from .hosts import accept_files as accept_files

# Pass when this host has what its installation shares, and note what nobody has noted yet; raises UsageError.
from .hosts import check_host as check_host

# Pass when the keys that sign tokens are the installation's: all that the exam API needs to share. Raises UsageError.
from .hosts import check_token_keys as check_token_keys

# Whether this host has what its installation shares.
from .hosts import examine_hosts as examine_hosts

# What hosts share, as this one has it and as it was noted.
from .hosts import list_shared as list_shared

# Let the keys that sign tokens hold for all hosts, after a command changed them here.
from .hosts import note_new_token_keys as note_new_token_keys

# Take from others what they may do in a home; answers with a sentence about it, null where there was nothing to take.
from .owner_only import close_home as close_home

# Within the block whatever is made, here and in processes started from here, is its owner's alone.
from .owner_only import keep_to_owner as keep_to_owner

# Files and folders of a home that others may read, change or enter; the home itself first. Links are not followed.
from .owner_only import list_lax_files as list_lax_files

# Create the ledger, the lake with every table, and a registry to fill in; what exists is left alone.
from .whole import create_home as create_home

# Take the examples of `proctor init` with one of these roles out of the registry; returns their names.
from .whole import drop_examples as drop_examples

# Server, stores and open work; reads only.
from .whole import describe_home as describe_home
