"""What somebody answers before the guide asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer


@dataclass(frozen=True)
class GivenAnswers:
    """What is answered beforehand; the rest is asked for."""

    papers: Annotated[str, typer.Argument(help="Folder or file of exam papers.")] = ""
    annotators: Annotated[str, typer.Option("--annotators", help="Who reviews, with commas.")] = ""
    url: Annotated[str, typer.Option("--url", help="Address of the candidates' API.")] = ""
    key_variable: Annotated[
        str, typer.Option("--key-variable", help="Environment variable with its key; `none` for none.")
    ] = ""
    organisation: Annotated[str, typer.Option("--organisation", help="Who owns the candidates.")] = ""
    candidates: Annotated[
        str, typer.Option("--candidates", help="Their names there, with commas; the first is the reference.")
    ] = ""
    prices: Annotated[
        str, typer.Option("--prices", help="Dollars per million tokens they read and write, as `2, 8`.")
    ] = ""
    judge: Annotated[str, typer.Option("--judge", help="Name of the judge.")] = ""
    judge_url: Annotated[str, typer.Option("--judge-url", help="Address of its API.")] = ""
    judge_key_variable: Annotated[
        str, typer.Option("--judge-key-variable", help="Environment variable with its key; `none` for none.")
    ] = ""
    judge_organisation: Annotated[str, typer.Option("--judge-organisation", help="Who owns it.")] = ""
    judge_prices: Annotated[str, typer.Option("--judge-prices", help="Its prices, as `2, 8`.")] = ""
    are_simulated: Annotated[
        bool, typer.Option("--simulated", help="These are no models; what they answer is marked everywhere.")
    ] = False
    styles: Annotated[str, typer.Option("--styles", help="Prompt styles, with commas.")] = ""
