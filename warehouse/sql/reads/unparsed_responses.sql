-- Which responses were judged, and by nobody whose output could be read?
-- One row per response and judge that was asked, in $months, of the run asked for (of all runs). Erased ones are left out.
-- Parameters: $is_simulated, $months, $run_id (default null)
SELECT unread.run_id, unread.month, unread.session_id, unread.seq, unread.judge
FROM (
    SELECT DISTINCT run_id, month, session_id, seq, judge
    FROM judgements
    WHERE stars IS NULL
        AND is_simulated = $is_simulated
        AND list_contains($months::VARCHAR[], month)
        AND run_id = coalesce($run_id::VARCHAR, run_id)
) AS unread
ANTI JOIN (
    SELECT session_id, seq
    FROM judgements
    WHERE stars IS NOT NULL AND list_contains($months::VARCHAR[], month)
) AS read_by_somebody
    ON read_by_somebody.session_id = unread.session_id AND read_by_somebody.seq = unread.seq
ANTI JOIN erasures ON erasures.session_id = unread.session_id
ORDER BY unread.month, unread.session_id, unread.seq, unread.judge
