-- How much of the bank do k organisations hold together that pool what they met?
-- One row per k from 1 to 12, or as many as there are organisations. expected_count is the mean over all choices of k
-- organisations, exact (a lineage that h of n have met is in 1 - C(n-h, k) / C(n, k) of them); at_most_count is what no choice
-- exceeds: the k largest holdings added, and never more than all together have met. Real runs, or simulated ones: what they would hold if they were real.
-- Parameters: $simulated (default false)
-- No rows: only real runs count, as simulated ones take nothing from the bank: `proctor monthly` with a candidate that is registered as real, or `--param simulated=true`.
WITH banked AS (
    SELECT DISTINCT lineage_uuid FROM current_bank WHERE discipline IS NOT NULL
),

met AS (
    SELECT DISTINCT sessions.organisation, sets.lineage_uuid
    FROM sessions
    INNER JOIN sets ON sets.set_id = sessions.set_id
    INNER JOIN banked ON banked.lineage_uuid = sets.lineage_uuid
    WHERE sessions.is_simulated = $simulated::BOOLEAN
),

holdings AS (
    SELECT
        organisation,
        count(*) AS met_count,
        row_number() OVER (ORDER BY count(*) DESC, organisation) AS place
    FROM met
    GROUP BY organisation
),

totals AS (
    SELECT
        (SELECT count(*) FROM banked) AS bank_count,
        (SELECT count(DISTINCT organisation) FROM sessions WHERE is_simulated = $simulated::BOOLEAN) AS organisation_count,
        (SELECT count(DISTINCT lineage_uuid) FROM met) AS pooled_count
),

held AS (
    SELECT holder_count, count(*) AS lineage_count
    FROM (SELECT lineage_uuid, count(*) AS holder_count FROM met GROUP BY lineage_uuid)
    GROUP BY holder_count
),

-- The chance that none of k chosen organisations is one of the holders: a product of k factors.
factors AS (
    SELECT
        chosen.k,
        held.holder_count,
        held.lineage_count,
        product(
            greatest(0, totals.organisation_count - held.holder_count - step.i)
            / (totals.organisation_count - step.i)::DOUBLE
            ORDER BY step.i
        ) AS missed_share
    FROM range(1, 13) AS chosen (k)
    CROSS JOIN totals
    CROSS JOIN held
    INNER JOIN range(0, 12) AS step (i) ON step.i < chosen.k
    WHERE chosen.k <= totals.organisation_count
    GROUP BY chosen.k, held.holder_count, held.lineage_count
),

largest AS (
    SELECT chosen.k, sum(holdings.met_count) AS met_count
    FROM range(1, 13) AS chosen (k)
    INNER JOIN holdings ON holdings.place <= chosen.k
    GROUP BY chosen.k
),

expected AS (
    SELECT k, sum(lineage_count * (1 - missed_share) ORDER BY holder_count) AS expected_count FROM factors GROUP BY k
)

SELECT
    expected.k,
    totals.bank_count,
    expected.expected_count,
    expected.expected_count / totals.bank_count AS expected_share,
    least(largest.met_count, totals.pooled_count)::BIGINT AS at_most_count,
    least(largest.met_count, totals.pooled_count) / totals.bank_count::DOUBLE AS at_most_share
FROM expected
INNER JOIN largest ON largest.k = expected.k
CROSS JOIN totals
ORDER BY expected.k
