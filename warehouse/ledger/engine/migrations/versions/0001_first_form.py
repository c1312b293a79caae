"""The first form: the tables as they were when the ledger was first released.

A new ledger has the tables of the code and is marked with the last form, so nothing is done here; `tests/warehouse/ledger/forms/0001`
keeps what made this form, and every later step is tried on it.
"""

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    raise NotImplementedError("there is no form before the first")


def downgrade() -> None:
    raise NotImplementedError("there is no form before the first")
