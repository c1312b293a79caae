-- What is every allocated question worth in the eyes of every judge of its run?
-- One row per allocation and judge, by the version of its prompt that counts (run_judges).
-- score_status says why stars is what it is:
--   scored      the judge gave 0 to 3 stars, or an empty or refused answer got 0 by rule;
--   resolved    the judge's output could not be read, and the stars are those of counted_judge (stand_in_judgements);
--   unanswered  the session closed without an answer: 0 stars, for N is the allocated count; null while it is open;
--   error       the call to the candidate had failed for good when the session was closed: 0 stars, as for no answer;
--   unparsed    nobody's output could be read: null, never 0;
--   unjudged    nobody has judged it yet: null.
-- counted_judge names whose stars they are; null where nobody gave any.
SELECT
    a.run_id,
    a.month,
    a.session_id,
    a.seq,
    s.set_id,
    a.question_uuid,
    a.lineage_uuid,
    a.discipline,
    s.model,
    s.organisation,
    s.prompt_style,
    s.repeat,
    s.is_reference,
    s.status AS session_status,
    r.answer_status,
    judges.judge,
    judges.prompt_wording,
    CASE
        WHEN r.session_id IS NULL OR r.answer_status = 'error' THEN if(s.status = 'closed', 0, NULL)
        WHEN j.session_id IS NOT NULL THEN coalesce(j.stars, other.stars)
    END AS stars,
    CASE
        WHEN r.session_id IS NULL THEN 'unanswered'
        WHEN r.answer_status = 'error' THEN 'error'
        WHEN j.stars IS NOT NULL THEN 'scored'
        WHEN j.session_id IS NULL THEN 'unjudged'
        WHEN other.stars IS NOT NULL THEN 'resolved'
        ELSE 'unparsed'
    END AS score_status,
    CASE
        WHEN r.answer_status = 'error' OR j.session_id IS NULL THEN NULL
        WHEN j.stars IS NOT NULL THEN judges.judge
        ELSE other.counted_judge
    END AS counted_judge,
    s.is_simulated
FROM allocations AS a
JOIN sessions AS s ON s.session_id = a.session_id
JOIN run_judges AS judges ON judges.month = a.month AND judges.run_id = a.run_id
LEFT JOIN responses AS r ON r.month = a.month AND r.session_id = a.session_id AND r.seq = a.seq
LEFT JOIN counted_judgements AS j
    ON j.month = a.month AND j.session_id = a.session_id AND j.seq = a.seq AND j.judge = judges.judge
LEFT JOIN stand_in_judgements AS other ON other.month = a.month AND other.session_id = a.session_id AND other.seq = a.seq
