"""The first form: the tables as they were when the ledger was first released.

A new ledger has the tables of the code and is marked with the last form, so nothing is done here; `tests/warehouse/ledger/forms/1001`
keeps what made this form, and every later step is tried on it. Numbers below 1001 were those of forms before it: a ledger of one of
them has other tables, and is refused.
"""

revision = "1001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    raise NotImplementedError("there is no form before the first")


def downgrade() -> None:
    raise NotImplementedError("there is no form before the first")
