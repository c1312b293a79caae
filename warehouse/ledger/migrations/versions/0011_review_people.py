"""Who annotators are besides their name, questions with a known answer among the review, and questions found by their id."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "annotator_profiles",
        sa.Column("user_id", sa.String(120), sa.ForeignKey("users.user_id"), primary_key=True),
        sa.Column("language", sa.String(2), comment="Language of what is written to them; null: that of their questions."),
        sa.Column("email", sa.String(254), comment="Where reminders go; null means none by e-mail."),
        sa.Column("daily_quota", sa.Integer(), comment="Questions per day of the window; null means the setting."),
        sa.Column("due_days", sa.Integer(), comment="Days of their window; null means the setting."),
        sa.Column("levels", sa.JSON(), comment="novice, regular or expert by discipline; `*` for all others."),
    )
    op.create_table(
        "review_gold",
        sa.Column("batch_id", sa.String(80), primary_key=True),
        sa.Column("question_uuid", sa.String(36), primary_key=True),
        sa.Column("kind", sa.String(10), nullable=False, comment="accepted, rejected or spoiled"),
        sa.Column("expected", sa.String(8), nullable=False, comment="The known decision: accept or reject."),
        sa.Column("true_answer", sa.JSON(), comment="The answer before it was spoiled; null for the other kinds."),
        sa.Column("source_uuid", sa.String(36), nullable=False, comment="The settled question that it was made from."),
        sa.Column("source_batch", sa.String(80), nullable=False, comment="The batch that settled that question."),
    )
    op.create_index("ix_review_questions_question_uuid", "review_questions", ["question_uuid"])
    op.create_index("ix_reviews_question_uuid", "reviews", ["question_uuid"])


def downgrade() -> None:
    op.drop_index("ix_reviews_question_uuid", "reviews")
    op.drop_index("ix_review_questions_question_uuid", "review_questions")
    op.drop_table("review_gold")
    op.drop_table("annotator_profiles")
