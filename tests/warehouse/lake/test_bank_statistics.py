"""Tables 5 and 6 of LLMEval-Fair, from SQL alone, on a simulated bank of the paper's shape."""

from __future__ import annotations

import pytest

from warehouse.lake.reading import find_query
from warehouse.lake.reading.queries import bind_parameters
from warehouse.lake.reading.trial import connect_trial

# Table 6 (appendix A.2): discipline → questions before and after, and the increase in percent.
TABLE_6 = {
    "Philosophy": (2194, 10969, 399.95),
    "Medicine": (30772, 109974, 257.38),
    "Law": (9262, 30116, 225.16),
    "Management": (2448, 7945, 224.55),
    "Engineering": (4926, 13263, 169.24),
    "Science": (6182, 15669, 153.46),
    "Economics": (9245, 18124, 96.04),
    "Military Science": (611, 1187, 94.27),
    "Education": (2781, 5094, 83.17),
    "History": (1749, 3178, 81.70),
    "Literature": (7839, 13085, 66.92),
}
# Table 5: source → questions before and after, and their shares in percent.
TABLE_5 = {
    "undergraduate_final": (26633, 71038, 34.1, 31.1),
    "postgraduate_entrance": (51376, 157566, 65.9, 68.9),
}
UUID = "lpad(to_hex({number}), 8, '0') || '-0000-4000-8000-000000000000'"


def share_out(total: int, sizes: list[int]) -> list[int]:
    """`total` in proportion to `sizes`, whole numbers that add up to it."""
    shares = [size * total // sum(sizes) for size in sizes]
    for place in range(total - sum(shares)):
        shares[place] += 1
    return shares


def test_counts_before_and_after_augmentation_are_those_of_the_paper() -> None:
    connection = connect_trial()
    befores = [before for before, _, _ in TABLE_6.values()]
    afters = [after for _, after, _ in TABLE_6.values()]
    undergraduate = TABLE_5["undergraduate_final"]
    originals = share_out(undergraduate[0], befores)
    variants = share_out(
        undergraduate[1] - undergraduate[0],
        [after - before for before, after in zip(befores, afters, strict=True)],
    )
    first = 0
    for discipline, before, after, of_source, made in zip(
        TABLE_6, befores, afters, originals, variants, strict=True
    ):
        # Originals come first, those of undergraduate exams before the others; then the variants in the same order.
        lineage = f"""
            CASE
                WHEN n < {before} THEN n
                WHEN n < {before + made} THEN (n - {before}) % {of_source}
                ELSE {of_source} + (n - {before + made}) % {before - of_source}
            END
        """
        connection.execute(
            f"""
            INSERT INTO bank_contents BY NAME
            SELECT
                {UUID.format(number=f"{first} + n")} AS question_uuid,
                {UUID.format(number=f"{first} + lineage")} AS lineage_uuid,
                1 AS revision,
                if(n < {before}, 'original', 'multiple_choice_to_true_false') AS method,
                1 AS from_version,
                'true_false' AS question_type,
                '{discipline}' AS discipline,
                if(lineage < {of_source}, 'undergraduate_final', 'postgraduate_entrance') AS source_kind,
                'zh' AS language,
                'Stem.' AS stem,
                '1' AS landing_unit
            FROM (SELECT n, {lineage} AS lineage FROM range({after}) AS numbers(n))
            """
        )
        first += after
    connection.execute(
        "INSERT INTO bank_versions BY NAME SELECT 1 AS bank_version, 228604 AS question_count, 78009 AS lineage_count, "
        "0 AS duplicate_count, '0' AS content_hash, now() AS published_at, '1' AS landing_unit"
    )
    query = find_query("bank_statistics")
    found = connection.execute(query.body, bind_parameters(query, {})).pl()
    connection.close()

    by_discipline = {
        row["name"]: (row["original_count"], row["question_count"], row["increase_rate"])
        for row in found.to_dicts()
        if row["grouped_by"] == "discipline"
    }
    assert {name: row[:2] for name, row in by_discipline.items()} == {
        name: row[:2] for name, row in TABLE_6.items()
    }
    for name, (_, _, rate) in TABLE_6.items():
        assert by_discipline[name][2] == pytest.approx(rate, abs=0.005), name
    total = found.filter(found["grouped_by"] == "total").row(0, named=True)
    assert (total["original_count"], total["question_count"], total["increase_count"]) == (
        78_009,
        228_604,
        150_595,
    )
    assert total["increase_rate"] == pytest.approx(193.05, abs=0.005)
    by_source = {
        row["name"]: (
            row["original_count"],
            row["question_count"],
            row["original_share"],
            row["question_share"],
        )
        for row in found.to_dicts()
        if row["grouped_by"] == "source_kind"
    }
    assert by_source.keys() == TABLE_5.keys()
    for name, row in TABLE_5.items():
        assert by_source[name][:2] == row[:2], name
        assert by_source[name][2:] == pytest.approx(row[2:], abs=0.05), name
