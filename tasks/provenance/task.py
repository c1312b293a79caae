"""Landings name the flow run that made them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from prefect.runtime import flow_run

from warehouse.lake.provenance import landing_provenance

P = ParamSpec("P")
T = TypeVar("T")


def sign_landings(function: Callable[P, T]) -> Callable[P, T]:
    """What the task lands names its flow run in `landings.flow_run_id`; called outside a flow, it names none."""

    @functools.wraps(function)
    def signed(*arguments: P.args, **named: P.kwargs) -> T:
        with landing_provenance(flow_run.id):
            return function(*arguments, **named)

    return signed
