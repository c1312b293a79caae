# Who is told after so long that the ledger is locked sends the same call again.
from .app import LONGEST_WAIT_S as LONGEST_WAIT_S

# The application. It opens the exam's side of the settings' ledger for its life, unless a ledger is given.
from .app import create_app as create_app
