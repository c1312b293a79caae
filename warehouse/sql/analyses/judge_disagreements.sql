-- Where do the judges disagree?
-- One row per month, pair of judges and discipline, the largest disagreement first: how far apart their stars for the same response
-- lie, how often by two stars or more, and which of them is the milder. Each judge by the version of its prompt that
-- counts. What could not be read and stars given by rule (attempt 0) are left out. disputed_responses shows the responses.
-- Parameters: $month (default null), $simulated (default null)
-- A null month is the latest that was judged, of real candidates where there are any. Simulated candidates are left out of a month that
-- has real ones. With $simulated both are as real ones.
-- No rows: no two judges have judged the same responses: register a second judge, then `proctor judge --run RUN`.
SELECT
    a.month,
    a.judge AS judge_a,
    b.judge AS judge_b,
    r.discipline,
    count(*) AS pair_count,
    avg(abs(a.stars - b.stars)) AS mean_distance,
    avg((a.stars <> b.stars)::INTEGER) AS disagreement_rate,
    count(*) FILTER (abs(a.stars - b.stars) >= 2) AS far_apart_count,
    avg(a.stars - b.stars) AS mean_difference,
    a.is_simulated
FROM counted_judgements AS a
JOIN counted_judgements AS b ON b.month = a.month AND b.session_id = a.session_id AND b.seq = a.seq AND b.judge > a.judge
JOIN current_responses AS r ON r.month = a.month AND r.session_id = a.session_id AND r.seq = a.seq
WHERE a.attempt > 0
    AND b.attempt > 0
    AND a.stars IS NOT NULL
    AND b.stars IS NOT NULL
    AND coalesce(
        $simulated::BOOLEAN OR NOT a.is_simulated,
        NOT a.is_simulated OR NOT EXISTS (FROM judgements WHERE NOT is_simulated AND month = a.month)
    )
    AND a.month = coalesce(
        $month::VARCHAR,
        CASE WHEN $simulated::BOOLEAN THEN (SELECT max(month) FROM judgements) END,
        (SELECT max(month) FROM judgements WHERE NOT is_simulated),
        (SELECT max(month) FROM judgements)
    )
GROUP BY a.month, a.judge, b.judge, r.discipline, a.is_simulated
ORDER BY mean_distance DESC, judge_a, judge_b, r.discipline
