"""An organisation meets a lineage once under all its names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from sqlalchemy import select

from schemas.errors import UsageError
from tasks.exam.closed.landing import iter_landings
from tasks.models.registry import Registry, list_owners, register_owners
from tasks.models.registry.file import parse_organisations
from tests.tasks.exam.world import answer_run, make_bank, make_model, make_registry, make_settings, publish
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.tables import exposures
from warehouse.ledger.trust import organisations

RHO = make_model("rho", roles=("reference",))


def make_named(section: Mapping[str, object] | None, *models: object) -> Registry:
    registry = make_registry(*models, RHO)  # type: ignore[arg-type]
    content = {} if section is None else {"organisations": {**section, "rho labs": None}}
    owners = {model.name: model.organisation for model in registry.models.values()}
    return Registry(registry.models, registry.path, parse_organisations(registry.path, content, owners))


def read_owners(ledger: Ledger) -> set[str]:
    with ledger.read() as connection:
        return set(connection.execute(select(exposures.c.organisation)).scalars())


@pytest.mark.parametrize("spelling", ["org0", "ＯＲＧ０", "Org 0", "ORG-0"])
def test_another_spelling_meets_other_lineages_and_lands_under_the_first(
    ledger: Ledger, tmp_path: Path, spelling: str
) -> None:
    settings, bank = make_settings(tmp_path), make_bank()
    publish(ledger, settings, make_named(None, make_model("a", "Org0")), bank, run_id="a")
    later = publish(
        ledger, settings, make_named(None, make_model("b", spelling)), bank, run_id="b", candidates=["b"]
    )
    assert [taken.set_number for taken in later.sets] == [2]
    assert read_owners(ledger) == {"org0", "rholabs"}
    answer_run(ledger, "b")
    for chunk in iter_landings(ledger, "b", lambda _table, _units: set()):
        for batch in chunk:
            if "organisation" in batch.frame.columns:
                assert set(batch.frame["organisation"]) <= {"Org0", "rho labs"}


def test_another_name_that_was_an_organisation_of_its_own_is_one_with_it_from_then_on(
    ledger: Ledger, tmp_path: Path
) -> None:
    settings, bank = make_settings(tmp_path), make_bank()
    publish(ledger, settings, make_named(None, make_model("a", "Lab Inc.")), bank, run_id="a")
    section = {"Lab": {"aliases": ["Lab Inc."]}}
    named = make_named(section, make_model("a", "Lab Inc."), make_model("b", "Lab"))
    plan = publish(ledger, settings, named, bank, run_id="b", candidates=["a", "b"])
    assert [(taken.set_number, taken.organisations) for taken in plan.sets] == [(2, ("Lab",))]
    # The registry may forget it; the ledger does not.
    forgetful = make_named(None, make_model("c", "lab inc"))
    third = publish(ledger, settings, forgetful, bank, run_id="c", candidates=["c"])
    assert [(taken.set_number, taken.organisations) for taken in third.sets] == [(3, ("Lab",))]
    assert read_owners(ledger) == {"lab", "labinc", "rholabs"}
    with ledger.read() as connection:
        assert organisations.read_aliases(connection) == {"labinc": "lab"}


def test_organisations_are_registered_and_listed_with_names_and_models(ledger: Ledger) -> None:
    ghost = make_model("ghost", "Lab", is_simulated=True)
    named = make_named({"Lab": {"aliases": ["Laboratory"]}}, make_model("a", "Lab"), ghost)
    before = {row["organisation"]: row["registered_as"] for row in list_owners(ledger, named)}
    assert before == {"Lab": None, "rho labs": None}
    register_owners(ledger, named)
    assert [
        (row["organisation"], row["other_names"], row["models"], row["is_simulated"], row["registered_as"])
        for row in list_owners(ledger, named)
    ] == [
        ("Lab", "Laboratory", "a", False, "Lab"),
        ("rho labs", None, "rho", False, "rho labs"),
        ("Lab", "Laboratory", "ghost", True, "Lab"),
    ]
    with ledger.read() as connection:
        assert organisations.find_organisation(connection, "LABORATORY") == "lab"
        with pytest.raises(UsageError, match="Did you mean 'rho labs'"):
            organisations.find_organisation(connection, "rho lab")


def test_real_and_simulated_models_do_not_sit_one_run(ledger: Ledger, tmp_path: Path) -> None:
    ghost = make_model("ghost", is_simulated=True)
    with pytest.raises(UsageError, match="'rho' is real and cannot take part in a simulated run"):
        publish(ledger, make_settings(tmp_path), make_registry(ghost, RHO), make_bank(), is_simulated=True)
