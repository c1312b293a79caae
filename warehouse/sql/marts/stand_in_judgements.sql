-- Whose stars count for a response where a judge's output could not be read?
-- One row per response with an unparsed judgement that somebody else, or the same judge asked again, gave stars for: the next
-- judge of the run, then a person (`person:` and the user). Of several the earliest counts, so that a judge or a person that
-- comes later changes nothing.
SELECT
    j.run_id,
    j.month,
    j.session_id,
    j.seq,
    j.judge AS counted_judge,
    j.prompt_version,
    j.occasion,
    j.stars,
    j.reason,
    j.judged_at,
    starts_with(j.judge, 'person:') AS is_by_person,
    j.is_simulated
FROM judgements AS j
SEMI JOIN (SELECT month, session_id, seq FROM judgements WHERE stars IS NULL) AS unread
    ON unread.month = j.month AND unread.session_id = j.session_id AND unread.seq = j.seq
WHERE j.stars IS NOT NULL
QUALIFY row_number() OVER (
    PARTITION BY j.month, j.session_id, j.seq
    ORDER BY j.judged_at, j.judge, j.prompt_version, j.occasion
) = 1
