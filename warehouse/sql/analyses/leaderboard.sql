-- How do the candidates stand in one month?
-- One row per candidate, best first: score with its 95% interval, the range of ranks that the data do not rule out, and the
-- group: whoever stands in a lower group is distinguishable from the best of every higher one. verdict says in words what the
-- range means. Everything is as frozen when it was published; a second run of the month stands below the first.
-- Simulated candidates are left out as soon as there is a real one, unless asked for.
-- Parameters: $month (default null), $simulated (default null)
-- A null month is the latest; $simulated true adds simulated candidates, false leaves them out in any case.
-- Of the columns:
--     interval_95  The 95% interval of S in words.
--     rank_range  Ranks that the data do not rule out (5%, all pairs told together), the best and the worst.
--     verdict  In words: from how many candidates of the month this one cannot be told.
-- Shown: rank, model, score, interval_95, question_count, rank_range, rank_group, verdict
-- Marks of: edition_id
-- No rows: nothing was published in the month that is asked for: `proctor monthly` examines, judges and publishes one.
WITH shown AS (
    SELECT *
    FROM leaderboards
    WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
        AND month = coalesce($month::VARCHAR, (
            SELECT max(month) FROM current_editions
            WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
        ))
)

SELECT
    month,
    rank,
    model,
    organisation,
    score,
    printf('%.1f to %.1f', score_low, score_high) AS interval_95,
    CASE WHEN rank_low = rank_high THEN rank_low::VARCHAR ELSE printf('%d-%d', rank_low, rank_high) END AS rank_range,
    rank_group,
    if(is_repetition, 'repetition of the month: ', '') || CASE
        WHEN score IS NULL THEN 'no score: a discipline is missing'
        WHEN rank_low IS NULL OR rank_high IS NULL OR count(score) OVER (PARTITION BY edition_id) = 1 THEN 'no comparison'
        WHEN rank_low = rank_high AND rank = 1 THEN 'first at 95%'
        WHEN rank_low = rank_high THEN 'rank told apart at 95%'
        WHEN rank_high - rank_low = 1 THEN 'not distinguishable from 1 other'
        ELSE printf('not distinguishable from %d others', rank_high - rank_low)
    END AS verdict,
    * EXCLUDE (month, rank, model, organisation, score, rank_group, is_shown_by_default)
FROM shown
ORDER BY is_simulated, is_repetition, run_id, rank NULLS LAST, model
