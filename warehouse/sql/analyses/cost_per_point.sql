-- What does a point of the score cost with each candidate?
-- One row per candidate of one month: what its zero-shot answers cost a question, its S, and dollars per 1,000 questions for each point of
-- S. is_efficient: no other candidate of the month scores at least as much for less. Answers without a known price are left out of the
-- mean; a candidate without any has no cost. Sittings of the reference that earlier runs paid for count with their own price.
-- Parameters: $month (default null), $simulated (default null)
-- A null month is the latest that was published.
-- Shown: model, score, cost_per_1000_usd, cost_per_point_usd, is_efficient
-- Marks of: edition_id
-- No rows: nothing was published in the month that is asked for: `proctor monthly` examines, judges and publishes one.
WITH board AS (
    SELECT *
    FROM leaderboards
    WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
        AND NOT is_repetition
        AND month = coalesce($month::VARCHAR, (
            SELECT max(month) FROM current_editions
            WHERE NOT is_repetition AND coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
        ))
),

costs AS (
    SELECT
        s.edition_id,
        s.model,
        avg(r.cost_usd::DECIMAL(38, 18)) AS answer_usd,
        count(r.cost_usd) AS priced_count,
        count(*) - count(r.cost_usd) AS unpriced_count
    FROM edition_sessions AS s
    JOIN runs AS o ON o.run_id = s.sat_in_run_id
    JOIN responses AS r ON r.month = o.month AND r.session_id = s.session_id
    WHERE s.prompt_style = 'zero_shot'
        AND s.is_complete
        AND s.edition_id IN (SELECT edition_id FROM board)
    GROUP BY s.edition_id, s.model
),

priced AS (
    SELECT
        b.month,
        b.model,
        b.organisation,
        b.score,
        c.answer_usd * 1000 AS cost_per_1000_usd,
        c.answer_usd * 1000 / nullif(b.score, 0) AS cost_per_point_usd,
        c.priced_count,
        c.unpriced_count,
        b.edition_id,
        b.is_simulated
    FROM board AS b
    LEFT JOIN costs AS c ON c.edition_id = b.edition_id AND c.model = b.model
)

SELECT
    p.* EXCLUDE (edition_id, is_simulated),
    p.cost_per_1000_usd IS NOT NULL AND p.score IS NOT NULL AND NOT EXISTS (
        FROM priced AS o
        WHERE o.is_simulated = p.is_simulated
            -- What differs in the last bits only is equal.
            AND round(o.score, 9) >= round(p.score, 9)
            AND round(o.cost_per_1000_usd, 9) < round(p.cost_per_1000_usd, 9)
    ) AS is_efficient,
    p.edition_id,
    p.is_simulated
FROM priced AS p
ORDER BY p.is_simulated, p.cost_per_point_usd NULLS LAST, p.model
