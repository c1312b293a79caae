-- What became of every question that a candidate got in a run, and what did each judge give it?
-- One row per allocation of a session that has landed, in order of prompt style, repeat and position. marks are the stars of each
-- judge by its last reply (null: it could not be read), in order of the judge's name; null where nobody has judged. No text is read.
-- Parameters: $run_id, $month, $model
WITH asked AS (
    SELECT session_id, set_id, prompt_style, repeat
    FROM sessions
    WHERE run_id = $run_id AND model = $model
),

last_marks AS (
    SELECT j.session_id, j.seq, j.judge, arg_max_null(j.stars, j.judged_at) AS stars
    FROM judgements AS j
    JOIN asked ON asked.session_id = j.session_id
    WHERE j.month = $month
    GROUP BY j.session_id, j.seq, j.judge
),

marked AS (
    SELECT session_id, seq, list({judge: judge, stars: stars} ORDER BY judge) AS marks
    FROM last_marks
    GROUP BY session_id, seq
)

SELECT
    a.session_id,
    a.seq,
    asked.set_id,
    asked.prompt_style,
    asked.repeat,
    a.question_uuid,
    a.lineage_uuid,
    a.discipline,
    coalesce(r.answer_status, 'unanswered') AS answer_status,
    marked.marks
FROM allocations AS a
JOIN asked ON asked.session_id = a.session_id
LEFT JOIN responses AS r ON r.month = $month AND r.session_id = a.session_id AND r.seq = a.seq
LEFT JOIN marked ON marked.session_id = a.session_id AND marked.seq = a.seq
WHERE a.month = $month
ORDER BY asked.prompt_style, asked.repeat, a.session_id, a.seq
