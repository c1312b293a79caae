-- What is every allocated question worth in the eyes of every judge of its run?
-- One row per allocation and judge, by the version of its prompt that counts (run_judges).
-- score_status says why stars is what it is:
--   scored      the judge gave 0 to 3 stars, or an empty or refused answer got 0 by rule;
--   unanswered  the session closed without an answer: 0 stars, for N is the allocated count; null while it is open;
--   unparsed    the judge's output could not be read: null, never 0;
--   unjudged    nobody has judged it yet, or the call failed: null.
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
        WHEN r.session_id IS NULL THEN if(s.status = 'closed', 0, NULL)
        ELSE j.stars
    END AS stars,
    CASE
        WHEN r.session_id IS NULL THEN 'unanswered'
        WHEN j.stars IS NOT NULL THEN 'scored'
        WHEN j.session_id IS NOT NULL THEN 'unparsed'
        ELSE 'unjudged'
    END AS score_status,
    s.is_simulated
FROM allocations AS a
JOIN sessions AS s ON s.session_id = a.session_id
JOIN run_judges AS judges ON judges.run_id = a.run_id
LEFT JOIN responses AS r ON r.session_id = a.session_id AND r.seq = a.seq
LEFT JOIN counted_judgements AS j ON j.session_id = a.session_id AND j.seq = a.seq AND j.judge = judges.judge
