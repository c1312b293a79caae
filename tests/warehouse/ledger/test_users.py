"""Users and organisations."""

from __future__ import annotations

import pytest

from schemas.errors import UsageError
from warehouse.ledger import users
from warehouse.ledger.engine import Ledger
from warehouse.ledger.users import User


def test_a_user_is_kept_as_given_and_shown_without_password(ledger: Ledger) -> None:
    with ledger.write() as connection:
        added = users.add_user(
            connection,
            user_id="ann",
            role="annotator",
            disciplines=["Law", "History"],
            question_limit=7,
            password_hash="a hash",
        )
        assert added == User("ann", "annotator", None, None, ["Law", "History"], 7, True, added.created_at)
        assert users.read_user(connection, "ann") == added
        assert users.list_users(connection, "annotator") == [added]
        assert users.list_users(connection, "admin") == []
        assert users.read_password_hash(connection, "ann") == "a hash"
        assert users.list_users(connection) == [added]


def test_a_name_is_given_once_and_a_role_must_be_known(ledger: Ledger) -> None:
    with ledger.write() as connection:
        users.add_user(connection, user_id="ann", role="annotator")
        with pytest.raises(UsageError, match="already a user 'ann'"):
            users.add_user(connection, user_id="ann", role="admin")
        with pytest.raises(UsageError, match="'king' is unknown"):
            users.add_user(connection, user_id="bob", role="king")


def test_a_candidates_name_belongs_to_one_model_and_organisation(ledger: Ledger) -> None:
    with ledger.write() as connection:
        for _ in range(2):
            users.ensure_candidate(connection, user_id="candidate:m", organisation="o", model="m")
        with pytest.raises(UsageError, match="is not the candidate 'm' of 'p'"):
            users.ensure_candidate(connection, user_id="candidate:m", organisation="p", model="m")


def test_an_inactive_user_has_no_password(ledger: Ledger) -> None:
    with ledger.write() as connection:
        users.add_user(connection, user_id="ann", role="annotator", password_hash="a hash")
        users.write_activity(connection, "ann", is_active=False)
        assert users.read_password_hash(connection, "ann") is None
        users.write_activity(connection, "ann", is_active=True)
        users.write_password_hash(connection, "ann", "another")
        assert users.read_password_hash(connection, "ann") == "another"
        with pytest.raises(UsageError, match="no user 'bob'"):
            users.write_activity(connection, "bob", is_active=False)


def test_limits_are_kept_for_users_and_organisations(ledger: Ledger) -> None:
    with ledger.write() as connection:
        users.add_user(connection, user_id="c", role="candidate", organisation="o", model="m")
        users.write_user_limit(connection, "c", 5)
        users.write_organisation_limit(connection, "o", 9)
        users.write_organisation_limit(connection, "p", None)
        assert users.read_question_limit(connection, "c") == 5
        assert users.read_organisation_limits(connection, ["o", "p", "q"]) == {"o": 9}
