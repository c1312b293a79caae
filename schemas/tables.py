"""Every table of the lake, by name, in the order of the pipeline."""

from __future__ import annotations

from schemas import (
    bank,
    calibration,
    documents,
    drafts,
    editions,
    exam,
    imports,
    judgements,
    league,
    league_statistics,
    operations,
    questions,
    reviews,
    scores,
)
from schemas.errors import ContractError
from schemas.table import Table

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        documents.DOCUMENTS,
        documents.DOCUMENT_TEXTS,
        documents.DOCUMENT_RELEASES,
        documents.LAYOUTS,
        documents.CONFIDENCE_FITS,
        questions.QUESTIONS,
        reviews.REVIEW_ASSIGNMENTS,
        reviews.REVIEWS,
        reviews.REVIEW_DECISIONS,
        reviews.GOLD_REVIEWS,
        bank.VARIANTS,
        drafts.VARIANT_BATCHES,
        drafts.VARIANT_DRAFTS,
        bank.DUPLICATES,
        bank.BANK_CONTENTS,
        bank.BANK_EXITS,
        bank.BANK_VERSIONS,
        bank.BANK_RETIREMENTS,
        bank.BANK_SOURCES,
        bank.QUESTION_SIGNATURES,
        bank.SEMANTIC_PAIRS,
        exam.MODELS,
        exam.RUNS,
        exam.SETS,
        exam.SESSIONS,
        exam.ALLOCATIONS,
        exam.RESPONSES,
        exam.ERASURES,
        judgements.JUDGEMENTS,
        judgements.JUDGE_CONTROLS,
        judgements.HUMAN_RATINGS,
        judgements.CALIBRATION,
        judgements.ERROR_LABELS,
        judgements.ERROR_SAMPLES,
        calibration.CALIBRATION_SAMPLES,
        calibration.CALIBRATION_PAIRS,
        calibration.CALIBRATION_GROUPS,
        calibration.JUDGE_DIFFERENCES,
        calibration.CORRECTED_SCORES,
        calibration.ANCHOR_RESPONSES,
        calibration.ANCHOR_JUDGEMENTS,
        calibration.JUDGE_DRIFT,
        editions.EDITIONS,
        editions.EDITION_SESSIONS,
        editions.EDITION_STARS,
        editions.EDITION_SCORES,
        editions.EDITION_PAIRS,
        editions.EDITION_ITEMS,
        editions.EDITION_FITS,
        editions.EDITION_STANDINGS,
        scores.GSCORES,
        scores.EXTERNAL_SCORES,
        imports.IMPORTED_MARKS,
        scores.REPLAYS,
        scores.REPLAY_SPANS,
        scores.BOOTSTRAP_SCORES,
        scores.RATING_CURVES,
        league.LEAGUES,
        league.LEAGUE_CANDIDATES,
        league.LEAGUE_ROUNDS,
        league.LEAGUE_QUESTIONS,
        league.LEAGUE_ANSWERS,
        league.LEAGUE_EVALUATIONS,
        league.LEAGUE_RANKINGS,
        league.LEAGUE_ORIGINALITY,
        league.LEAGUE_FLAGS,
        league.LEAGUE_FLAG_DECISIONS,
        league.LEAGUE_VALIDATIONS,
        league.LEAGUE_MATCHES,
        league_statistics.IMPORTED_LEAGUE_SCORES,
        league_statistics.IMPORTED_LEAGUE_OVERLAPS,
        *league_statistics.STATISTICS,
        operations.LANDINGS,
        operations.QUARANTINE,
        operations.LLM_CALLS,
        operations.ACCESS_LOG,
    )
}


def get_table(name: str) -> Table:
    """The table of that name; raises ContractError for a name that is not in the contract."""
    try:
        return TABLES[name]
    except KeyError:
        raise ContractError(f"There is no table {name!r}; the tables are {', '.join(TABLES)}.") from None
