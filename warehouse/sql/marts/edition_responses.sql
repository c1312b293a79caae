-- How many stars is every question worth in each edition, and what did the reference get for the same one?
-- One row per edition (run), session and allocation, by the edition's primary judge and the version of its prompt that counts
-- in the run where the session was sat (prompt_wording).
-- reference_stars is the reference candidate's (mean, if it sat the set more than once) on the same set, style and question;
-- null where it has none.
WITH answers AS (
    SELECT
        e.run_id,
        e.month,
        e.planned_at,
        e.bank_version,
        e.reference_model,
        e.is_reference,
        e.is_borrowed,
        ja.session_id,
        ja.seq,
        ja.set_id,
        ja.question_uuid,
        ja.lineage_uuid,
        ja.discipline,
        ja.model,
        ja.organisation,
        ja.prompt_style,
        ja.repeat,
        ja.judge,
        ja.prompt_wording,
        ja.stars,
        ja.score_status,
        ja.counted_judge,
        ja.answer_status,
        p.is_provisional,
        ja.is_simulated
    FROM edition_sessions AS e
    JOIN primary_judge AS p ON p.run_id = e.run_id
    JOIN judged_allocations AS ja ON ja.session_id = e.session_id AND ja.judge = p.judge
),

reference_answers AS (
    SELECT run_id, set_id, prompt_style, question_uuid, avg(stars) AS reference_stars
    FROM answers
    WHERE is_reference AND stars IS NOT NULL
    GROUP BY run_id, set_id, prompt_style, question_uuid
)

SELECT answers.*, reference_answers.reference_stars
FROM answers
LEFT JOIN reference_answers USING (run_id, set_id, prompt_style, question_uuid)
