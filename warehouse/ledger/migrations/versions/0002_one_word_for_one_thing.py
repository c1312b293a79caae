"""One word for one thing: what the lake holds too is called the same here.

Tables and columns are renamed in place, on SQLite too: it renames without copying the rows, and references follow.
(Alembic's batch mode would copy whole tables, and could not drop one that others refer to.)
"""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# `sets` makes room before `set_items` takes its name.
TABLES = (
    ("review_decisions", "reviews"),
    ("review_items", "review_questions"),
    ("answers", "responses"),
    ("sets", "set_numbers"),
    ("set_items", "sets"),
    ("access_anchors", "access_heads"),
)
COLUMNS = (
    ("access_log", "at", "accessed_at"),
    ("access_log", "status", "http_status"),
    ("access_heads", "anchored_at", "kept_at"),
)
# SQLite keeps the names of keys inside the table's text, where nobody refers to them.
CONSTRAINTS = (
    ("reviews", "pk_review_decisions", "pk_reviews"),
    ("review_questions", "pk_review_items", "pk_review_questions"),
    ("review_questions", "fk_review_items_batch_id", "fk_review_questions_batch_id"),
    ("responses", "pk_answers", "pk_responses"),
    ("set_numbers", "pk_sets", "pk_set_numbers"),
    ("sets", "pk_set_items", "pk_sets"),
    ("sets", "fk_set_items_set_id", "fk_sets_set_id"),
    ("access_heads", "pk_access_anchors", "pk_access_heads"),
)
# Judgements have always been asked for with the first version of the prompt; their units name it from now on.
FIRST_PROMPT = "/prompt-1"


def upgrade() -> None:
    for old, new in TABLES:
        op.rename_table(old, new)
    for table, old, new in COLUMNS:
        op.execute(f'ALTER TABLE {table} RENAME COLUMN "{old}" TO "{new}"')
    if op.get_bind().dialect.name == "postgresql":
        for table, old, new in CONSTRAINTS:
            op.execute(f"ALTER TABLE {table} RENAME CONSTRAINT {old} TO {new}")
    op.drop_index("ix_access_log_at", table_name="access_log")
    op.create_index("ix_access_log_accessed_at", "access_log", ["accessed_at"], unique=False)
    op.execute(f"UPDATE llm_calls SET unit = unit || '{FIRST_PROMPT}' WHERE purpose = 'judge' AND unit IS NOT NULL")


def downgrade() -> None:
    op.execute(
        f"UPDATE llm_calls SET unit = substr(unit, 1, length(unit) - {len(FIRST_PROMPT)}) "
        f"WHERE purpose = 'judge' AND unit LIKE '%{FIRST_PROMPT}'"
    )
    op.drop_index("ix_access_log_accessed_at", table_name="access_log")
    if op.get_bind().dialect.name == "postgresql":
        for table, old, new in reversed(CONSTRAINTS):
            op.execute(f"ALTER TABLE {table} RENAME CONSTRAINT {new} TO {old}")
    for table, old, new in reversed(COLUMNS):
        op.execute(f'ALTER TABLE {table} RENAME COLUMN "{new}" TO "{old}"')
    op.create_index("ix_access_log_at", "access_log", ["at"], unique=False)
    for old, new in reversed(TABLES):
        op.rename_table(new, old)
