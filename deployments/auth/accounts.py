"""The accounts of the desk, as kinds of sign-in meet them: who comes in, in which role."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from deployments.auth.kinds import Recognised
from deployments.auth.passwords import check_password
from schemas.errors import UsageError
from schemas.settings import Settings
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.trust import users

# Of a person who has no more: an annotator of no discipline, to whom nothing is given.
LEAST_ROLE: Final = "annotator"
_LONGEST_NAME: Final = 120
_SIGNS: Final = "._@+-"


@dataclass(frozen=True)
class DeskAccounts:
    """The accounts of one installation.

    Attributes:
        ledger: whose users they are.
        settings: how people whom a kind recognises are let in.
        roles: the roles that have work here; all others are let in by nothing.
    """

    ledger: Ledger
    settings: Settings
    roles: Collection[str]

    def check_password(self, user_id: str, password: str) -> bool:
        """See deployments.auth.kinds.Accounts."""
        return check_password(self.read_hash(user_id), password)

    def read_hash(self, user_id: str) -> str | None:
        """The password hash of who has work here; None for others: a caller learns no more."""
        with self.ledger.read() as connection:
            user = users.read_user(connection, user_id)
            if user is None or user.role not in self.roles:
                return None
            return users.read_password_hash(connection, user_id)

    def is_known(self, user_id: str) -> bool:
        """Whether somebody has that name, whatever they may do."""
        with self.ledger.read() as connection:
            return users.read_user(connection, user_id) is not None

    def admit(self, person: Recognised) -> bool:
        """Whether somebody who was recognised may come in, with their role as it then is.

        Who has no account gets one where `sign_in_admits` says so. Where `sign_in_roles` maps claims and the kind names some,
        the role is the first of that setting of which they have a claim, and the least for who has none.
        """
        role = self._map_claims(person)
        with self.ledger.read() as connection:
            user = users.read_user(connection, person.user_id)
        if user is None:
            return self.settings.sign_in_admits and self._add(person.user_id, role or LEAST_ROLE)
        if not user.is_active or user.role not in self.roles:
            return False
        if role is not None and role != user.role:
            with self.ledger.write() as connection:
                users.write_role(connection, person.user_id, role, disciplines=_of_role(role))
        return True

    def find_teams(self, person: Recognised) -> tuple[str, ...]:
        """The teams that somebody's claims give them; none where the kind names no claims."""
        claims = person.claims or ()
        return tuple(sorted({team for claim, team in self.settings.sign_in_teams.items() if claim in claims}))

    def _map_claims(self, person: Recognised) -> str | None:
        if person.claims is None or not self.settings.sign_in_roles:
            return None
        mapped = (role for claim, role in self.settings.sign_in_roles.items() if claim in person.claims)
        return next(mapped, LEAST_ROLE)

    def _add(self, user_id: str, role: str) -> bool:
        if not is_account_name(user_id):
            return False
        try:
            with self.ledger.write() as connection:
                # Two windows of the same browser may have come back at once.
                if users.read_user(connection, user_id) is None:
                    users.add_user(connection, user_id=user_id, role=role, disciplines=_of_role(role))
        except UsageError:
            return False  # somebody has that name in other letter case
        return True


def is_account_name(name: str) -> bool:
    """Whether an account may be made of a name: like no other, no candidate's, no host's."""
    is_plain = all(letter.isalnum() or letter in _SIGNS for letter in name)
    return (
        0 < len(name) <= _LONGEST_NAME
        and is_plain
        and name[0].isalnum()
        and unicodedata.normalize("NFKC", name) == name
    )


def _of_role(role: str) -> list[str] | None:
    """What somebody of that role reviews whom nobody has given disciplines yet: nothing."""
    return [] if role == LEAST_ROLE else None
