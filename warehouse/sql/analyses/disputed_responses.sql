-- Which responses do judges disagree about most?
-- One row per response and pair of judges whose stars lie at least $least_distance apart, the furthest first, with both reasons. Each
-- judge by the version of its prompt that counts; what could not be read is left out.
-- Parameters: $month (default null), $least_distance (default 2), $judge (default null), $simulated (default null)
-- A null month is the latest that was judged, of real candidates where there are any; $judge shows the pairs of one judge only. Simulated
-- candidates are left out of a month that has real ones. With $simulated both are as real ones.
-- Shown: model, question_uuid, judge_a, stars_a, judge_b, stars_b
-- No rows: no two judges lie so far apart on a response of the month; `--param least_distance=1` shows smaller disputes, and a second judge is asked by `proctor judge --run RUN` once it is registered.
SELECT
    a.month,
    a.run_id,
    a.session_id,
    a.seq,
    a.model,
    a.question_uuid,
    a.judge AS judge_a,
    a.stars AS stars_a,
    b.judge AS judge_b,
    b.stars AS stars_b,
    a.reason AS reason_a,
    b.reason AS reason_b,
    a.is_simulated
FROM counted_judgements AS a
JOIN counted_judgements AS b ON b.month = a.month AND b.session_id = a.session_id AND b.seq = a.seq AND b.judge > a.judge
WHERE a.attempt > 0
    AND b.attempt > 0
    AND abs(a.stars - b.stars) >= $least_distance::BIGINT
    AND a.month = coalesce(
        $month::VARCHAR,
        CASE WHEN $simulated::BOOLEAN THEN (SELECT max(month) FROM judgements) END,
        (SELECT max(month) FROM judgements WHERE NOT is_simulated),
        (SELECT max(month) FROM judgements)
    )
    AND coalesce($judge::VARCHAR IN (a.judge, b.judge), true)
    AND coalesce(
        $simulated::BOOLEAN OR NOT a.is_simulated,
        NOT a.is_simulated OR NOT EXISTS (FROM judgements WHERE NOT is_simulated AND month = a.month)
    )
ORDER BY abs(a.stars - b.stars) DESC, a.session_id, a.seq, judge_a, judge_b
