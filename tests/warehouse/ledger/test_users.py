"""Users and organisations."""

from __future__ import annotations

import pytest

from schemas.errors import UsageError
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.trust import organisations, users
from warehouse.ledger.trust.users import User


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
        # One person does not review twice under two spellings.
        with pytest.raises(UsageError, match="'Ann' would be taken for them"):
            users.add_user(connection, user_id="Ann", role="annotator")
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
        organisations.register_organisations(connection, {"o": "O.", "p": "P"})
        users.add_user(connection, user_id="c", role="candidate", organisation="Ｏ", model="m")
        users.write_user_limit(connection, "c", 5)
        organisations.write_organisation_limit(connection, "O", 9)
        organisations.write_organisation_limit(connection, "p", None)
        assert users.read_question_limit(connection, "c") == 5
        assert organisations.read_organisation_limits(connection, ["o", "p", "q"]) == {"o": 9}


def test_an_organisation_that_is_not_registered_is_refused_with_the_nearest(ledger: Ledger) -> None:
    with ledger.write() as connection:
        organisations.register_organisations(connection, {"auroralab": "Aurora Lab"})
        with pytest.raises(UsageError, match=r"'Aurora Labs' is not registered. Did you mean 'Aurora Lab'\?"):
            users.add_user(connection, user_id="c", role="candidate", organisation="Aurora Labs", model="m")
        assert users.read_user(connection, "c") is None


def test_another_name_leads_to_the_organisation_for_good(ledger: Ledger) -> None:
    with ledger.write() as connection:
        organisations.register_organisations(connection, {"labinc": "Lab Inc."})
        users.ensure_candidate(connection, user_id="candidate:m", organisation="labinc", model="m")
        organisations.register_organisations(connection, {"lab": "Lab", "labinc": "Lab"}, {"labinc": "lab"})
        assert organisations.find_organisation(connection, "LAB INC") == "lab"
        assert organisations.read_aliases(connection) == {"labinc": "lab"}
        # The first name stays as it was registered, and the user moves to the organisation that is meant.
        assert organisations.read_names(connection, ["labinc", "lab"]) == {"lab": "Lab", "labinc": "Lab Inc."}
        users.ensure_candidate(connection, user_id="candidate:m", organisation="lab", model="m")
        moved = users.read_user(connection, "candidate:m")
        assert moved is not None
        assert moved.organisation == "lab"
        organisations.register_organisations(connection, {"group": "Group", "lab": "Group"}, {"lab": "group"})
        assert organisations.read_aliases(connection) == {"lab": "group", "labinc": "group"}
