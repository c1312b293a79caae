-- Are as many true as false statements put, so that who always says "true" gains nothing?
-- One row per set, and one of all sets with a null set_id: the statements that were drawn of lineages that have true and false ones made
-- from options. Each is true with probability 1/2, independently of the others; share_low and share_high are the bounds within
-- which 95% of sets lie (the normal approximation of the binomial), so that about one set in twenty is beyond them by chance.
-- No rows: no set with true or false statements was drawn: `proctor evaluate` draws sets of the bank.
WITH statements AS (
    SELECT
        question_uuid,
        any_value(lineage_uuid) AS lineage_uuid,
        any_value(lower(answer[1])) = 'true' AS is_true
    FROM bank_entries
    WHERE
        method IN ('multiple_choice_to_true_false', 'declarative_rewrite')
        AND lower(answer[1]) IN ('true', 'false')
    GROUP BY question_uuid
),

balanced AS (
    SELECT lineage_uuid
    FROM statements
    GROUP BY lineage_uuid
    HAVING count(DISTINCT is_true) = 2
),

counted AS (
    SELECT
        sets.set_id,
        count(*) AS statement_count,
        count(*) FILTER (WHERE statements.is_true) AS true_count
    FROM sets
    INNER JOIN statements ON statements.question_uuid = sets.question_uuid
    INNER JOIN balanced ON balanced.lineage_uuid = statements.lineage_uuid
    GROUP BY GROUPING SETS ((sets.set_id), ())
    HAVING count(*) > 0
)

SELECT
    set_id,
    statement_count,
    true_count,
    true_count / statement_count AS true_share,
    greatest(0, 0.5 - 1.959964 * 0.5 / sqrt(statement_count)) AS share_low,
    least(1, 0.5 + 1.959964 * 0.5 / sqrt(statement_count)) AS share_high,
    true_share BETWEEN share_low AND share_high AS is_within
FROM counted
ORDER BY set_id NULLS FIRST
