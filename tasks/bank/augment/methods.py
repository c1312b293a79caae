"""The ways to make variants, and which of them need a model."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.errors import UsageError, suggest
from tasks.bank.augment import free_response, permutation, true_false

# By template; the first is made of every accepted question without being asked for.
TEMPLATE_METHODS = (true_false.METHOD, permutation.METHOD, free_response.METHOD)
MODEL_METHODS = ("declarative_rewrite", "material_to_true_false", "paraphrase")
METHODS = (*TEMPLATE_METHODS, *MODEL_METHODS)
# What a model writes when nothing else is named.
DEFAULT_MODEL_METHODS = ("declarative_rewrite", "material_to_true_false")


def select_methods(names: Sequence[str], *, with_model: bool) -> tuple[str, ...]:
    """The methods to use, in the order of `METHODS`; those of the default where none is named.

    Raises UsageError for an unknown name, and for one that needs a model where none is given.
    """
    if unknown := [name for name in names if name not in METHODS]:
        raise UsageError(
            f"There is no method {unknown[0]!r}.{suggest(unknown[0], METHODS)} The methods are {', '.join(METHODS)}."
        )
    if not with_model and (needing := [name for name in names if name in MODEL_METHODS]):
        raise UsageError(f"{needing[0]} needs a model: name a generator of the registry with --with.")
    default = (true_false.METHOD, *(DEFAULT_MODEL_METHODS if with_model else ()))
    chosen = set(names or default)
    return tuple(name for name in METHODS if name in chosen)
