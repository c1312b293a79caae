-- Which of these sessions has a judge judged, by whichever version of its prompt?
-- One row per session among $session_ids.
-- Parameters: $judge, $session_ids
SELECT asked.session_id
FROM (SELECT unnest($session_ids) AS session_id) AS asked
SEMI JOIN (
    -- The unit of judgements is session/judge/prompt-version.
    SELECT regexp_replace(unit, '/prompt-[^/]*$', '') AS session_and_judge
    FROM landings
    WHERE table_name = 'judgements'
) AS judged ON judged.session_and_judge = asked.session_id || '/' || $judge
ORDER BY asked.session_id
