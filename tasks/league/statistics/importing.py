"""Raw scores of a league made elsewhere, marked as imported; NULL where files say nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas import patterns as re
from schemas.errors import UsageError
from schemas.tables import get_table
from schemas.vocabulary import LEAGUE_RUN_TYPES
from tasks.league.statistics.score_files import Score, ScoreFile, parse_score_file

if TYPE_CHECKING:
    from warehouse.lake import Batch, Lake

SCALES = ("borda", "points")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FULL_SCORE = 100.0
_KEY = ("domain", "run_type", "league_run", "round", "asker", "judge", "answerer")


@dataclass(frozen=True)
class ImportRequest:
    """What the files do not say themselves.

    Attributes:
        league_id: the league that they become, or are added to.
        domain: of scores whose file has no column for it.
        run_type: the same for the type of run.
        scale: `borda` (at most n - 2 points), `points` (0 to 100), or empty: borda where there are ranks.
        families: candidate → family.
        names: name in a file → name that the candidate has in the league.
    """

    league_id: str
    domain: str = ""
    run_type: str = "full"
    scale: str = ""
    families: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ImportedLeague:
    """What was landed: candidates, and of each file its scores, overlaps and other sheets."""

    league_id: str
    candidates: Sequence[str]
    score_counts: Mapping[str, int]
    overlap_counts: Mapping[str, int]
    sheets_left: Mapping[str, Sequence[str]]
    is_new: bool


@dataclass(frozen=True)
class _Given:
    """A score, where it stands, and the highest that could be had."""

    where: str
    score: Score
    most_points: float


def import_scores(lake: Lake, paths: Sequence[Path], request: ImportRequest) -> ImportedLeague:
    """Read all files, then land them with their league and its candidates, all or nothing.

    A file of the same name replaces what it gave before. Raises UsageError for what the request or a file has wrong.
    """
    _check_request(request, paths)
    files = _rename([parse_score_file(path) for path in paths], request.names)
    league = _read_league(lake, request.league_id)
    known = lake.read("league_members", {"league_id": request.league_id})
    names = {name for file in files for score in file.scores for name in _list_names(score)}
    members = sorted(names | set(known["model"]))
    families = {row["model"]: row["family"] for row in known.to_dicts()} | dict(request.families)
    if unknown := sorted(set(request.families) - set(members)):
        raise UsageError(
            f"--family names {', '.join(unknown)}, which no file has. The candidates are {', '.join(members) or 'none'}."
        )
    earlier = _read_earlier(lake, files, request)
    counts = _count_members(files, earlier, request)
    scored = [_complete(file, request, counts) for file in files]
    _check_together(earlier, [given for own in scored for given in own])
    batches = _make_batches(scored, files, request)
    batches += _make_league(league, scored, members, families, request)
    landings = lake.land_together(batches, stage="import")
    if refused := [landing for landing in landings if landing.rejected_count]:
        raise UsageError(
            f"{refused[0].rejected_count} rows of {refused[0].table} broke a rule and lie in quarantine: see `proctor sql "
            "quarantine_by_rule`. Correct the file and import it again."
        )
    return ImportedLeague(
        league_id=request.league_id,
        candidates=members,
        score_counts={file.source: len(file.scores) for file in files},
        overlap_counts={file.source: len(file.overlaps) for file in files},
        sheets_left={file.source: list(file.sheets_left) for file in files if file.sheets_left},
        is_new=any(not landing.is_unchanged for landing in landings),
    )


def _check_request(request: ImportRequest, paths: Sequence[Path]) -> None:
    if not _ID.fullmatch(request.league_id):
        raise UsageError(
            f"--league {request.league_id!r} is no name of a league: up to 64 letters, digits, dots, dashes and underlines."
        )
    if request.run_type not in LEAGUE_RUN_TYPES:
        raise UsageError(
            f"--run-type {request.run_type!r} is not known; it is {' or '.join(LEAGUE_RUN_TYPES)}."
        )
    if request.scale and request.scale not in SCALES:
        raise UsageError(f"--scale {request.scale!r} is not known; it is {' or '.join(SCALES)}.")
    names = [path.name for path in paths]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"{twice[0]} is named twice. A file is recognised by its name: rename one.")


def _read_league(lake: Lake, league_id: str) -> dict[str, Any] | None:
    found = lake.read("leagues_known", {"league_id": league_id})
    if found.is_empty():
        return None
    row = found.row(0, named=True)
    if row["origin"] != "imported":
        raise UsageError(
            f"League {league_id} was played here. Choose another name for imported scores with --league."
        )
    return row


def _list_names(score: Score) -> set[str]:
    return {name for name in (score.answerer, score.asker, score.judge) if name is not None}


def _rename(files: Sequence[ScoreFile], names: Mapping[str, str]) -> list[ScoreFile]:
    """The files with candidates under the names that they have in the league."""
    found = {name for file in files for score in file.scores for name in _list_names(score)}
    if unknown := sorted(set(names) - found):
        raise UsageError(
            f"--rename names {', '.join(unknown)}, which no file has. The files name {', '.join(sorted(found)) or 'nobody'}."
        )

    for file in files:
        own = {name for score in file.scores for name in _list_names(score)}
        for old, new in names.items():
            same = {one for one in own if names.get(one, one) == new}
            if old in own and len(same) > 1:
                raise UsageError(
                    f"--rename {old}={new}: {file.source} names {', '.join(sorted(same))}, which would be one candidate. Name each "
                    "candidate of a file otherwise."
                )

    def get(name: str | None) -> Any:
        return None if name is None else names.get(name, name)

    return [
        replace(
            file,
            scores=[
                replace(score, answerer=get(score.answerer), asker=get(score.asker), judge=get(score.judge))
                for score in file.scores
            ],
        )
        for file in files
    ]


def _complete(file: ScoreFile, request: ImportRequest, counts: Mapping[str, int]) -> list[_Given]:
    """Each score with domain, type of run and its scale's highest; Borda points by ranks."""
    is_borda = request.scale == "borda" or (
        not request.scale and any(score.rank is not None for score in file.scores)
    )
    found = []
    for number, score in enumerate(file.scores, start=1):
        where = f"{file.source}, score {number}"
        domain = score.domain or request.domain
        run_type = score.run_type or request.run_type
        if not domain:
            raise UsageError(
                f"{where}: its domain is not known. Name it with --domain, or in a column of that name."
            )
        if run_type not in LEAGUE_RUN_TYPES:
            raise UsageError(
                f"{where}: run_type {run_type!r} is not known; it is {' or '.join(LEAGUE_RUN_TYPES)}."
            )
        member_count = counts[domain]
        most = member_count - 2.0 if is_borda else _FULL_SCORE
        if most <= 0:
            raise UsageError(
                f"{where}: {member_count} candidates in {domain} earn no Borda points, with n - 2 at most. Give scores of 0 to 100 instead."
            )
        points = score.score
        if points is None and score.rank is not None:
            if not is_borda:
                raise UsageError(
                    f"{where}: a rank becomes Borda points, and --scale points is for scores of 0 to 100. Leave --scale out."
                )
            # Rank r earns n - 1 - r points, however long the judge's list is.
            points = member_count - 1.0 - score.rank
        if points is not None and not 0 <= points <= most:
            raise UsageError(
                f"{where}: {points:g} does not lie between 0 and {most:g}. Say with --scale which points they are: borda (0 to n - 2 "
                f"for n candidates, here {member_count}) or points (0 to 100)."
            )
        found.append(_Given(where, replace(score, domain=domain, run_type=run_type, score=points), most))
    return found


def _read_earlier(lake: Lake, files: Sequence[ScoreFile], request: ImportRequest) -> list[_Given]:
    """What other files gave for the league."""
    named = {file.source for file in files}
    found = lake.read("imported_scores_of", {"league_id": request.league_id})
    return [
        _Given(row["source"], Score(score=None, **{name: row[name] for name in _KEY}), row["most_points"])
        for row in found.iter_rows(named=True)
        if row["source"] not in named
    ]


def _count_members(
    files: Sequence[ScoreFile], earlier: Sequence[_Given], request: ImportRequest
) -> dict[str, int]:
    """How many candidates each domain has, in these files and in those before them."""
    members: dict[str, set[str]] = {}
    for score in [*(score for file in files for score in file.scores), *(given.score for given in earlier)]:
        members.setdefault(score.domain or request.domain, set()).update(_list_names(score))
    return {domain: len(names) for domain, names in members.items()}


def _check_together(earlier: Sequence[_Given], scores: Sequence[_Given]) -> None:
    """The points of a domain have one scale, and a judge gives an answer one score.

    What was taken in before is not held against a file that has nothing to do with it.
    """
    scales = {given.score.domain: given for given in reversed(earlier)}
    seen = {replace(given.score, score=None, rank=None): given for given in reversed(earlier)}
    for given in scores:
        score = given.score
        first = scales.setdefault(score.domain, given)
        if given.most_points != first.most_points:
            raise UsageError(
                f"{first.where}, and {given.where}: the points of {score.domain} go up to {first.most_points:g} in one and to "
                f"{given.most_points:g} in the other. Name all files of a domain together, so that they are counted among the same candidates, "
                "and with one --scale."
            )
        first = seen.setdefault(replace(score, score=None, rank=None), given)
        if score.judge is not None and first is not given:
            raise UsageError(
                f"{first.where}, and {given.where}: {score.judge} scores {score.answerer} twice in one round. Take one out, or tell the "
                "rounds apart in the columns league_run, round and asker. A file takes the place of one of the same name alone."
            )


def _make_batches(
    scored: Sequence[Sequence[_Given]], files: Sequence[ScoreFile], request: ImportRequest
) -> list[Batch]:
    from warehouse.lake import Batch

    batches = []
    for own, file in zip(scored, files, strict=True):
        unit = f"{request.league_id}/{file.source}"
        rows = [
            {
                "league_id": request.league_id,
                "source": file.source,
                "place": place,
                "most_points": given.most_points,
                **{name: getattr(given.score, name) for name in Score.__dataclass_fields__},
            }
            for place, given in enumerate(own, start=1)
        ]
        if file.overlaps and not request.domain:
            raise UsageError(f"{file.source}: its domain is not known. Name it with --domain.")
        overlaps = [
            {
                "league_id": request.league_id,
                "domain": request.domain,
                "run_type": request.run_type,
                "source": file.source,
                "run_name": one.run_name,
                "k": one.k,
                "overlap": one.overlap,
            }
            for one in file.overlaps
        ]
        # Both, so that a file that no longer holds one of them takes it back.
        batches.append(Batch("imported_league_scores", unit, get_table("imported_league_scores").frame(rows)))
        batches.append(
            Batch("imported_league_overlaps", unit, get_table("imported_league_overlaps").frame(overlaps))
        )
    return batches


def _make_league(
    league: Mapping[str, Any] | None,
    scored: Sequence[Sequence[_Given]],
    members: Sequence[str],
    families: Mapping[str, str | None],
    request: ImportRequest,
) -> list[Batch]:
    from warehouse.lake import Batch

    scores = [given.score for own in scored for given in own]
    domains = {str(score.domain) for score in scores} | ({request.domain} if request.domain else set())
    runs = [score.league_run for score in scores if score.league_run is not None]
    rounds = [score.round for score in scores if score.round is not None]
    before = league or {}
    row = {
        "league_id": request.league_id,
        "origin": "imported",
        "domains": sorted(domains | set(before.get("domains") or [])),
        "run_count": max([*runs, before.get("run_count") or 0]) or None,
        "round_count": max([*rounds, before.get("round_count") or 0]) or None,
        "is_simulated": False,
        "created_at": before.get("created_at") or datetime.now(UTC),
    }
    candidates: list[dict[str, object]] = [
        {
            "league_id": request.league_id,
            "model": model,
            "family": families.get(model),
            "joined": "member",
            "is_simulated": False,
        }
        for model in members
    ]
    return [
        Batch("leagues", request.league_id, get_table("leagues").frame([row])),
        Batch("league_candidates", request.league_id, get_table("league_candidates").frame(candidates)),
    ]
