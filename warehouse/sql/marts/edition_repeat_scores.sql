-- What did each repeat of each candidate score in each edition?
-- One row per edition (run) and session: every repeat is kept. score is S (0 to 100) over all allocated questions, null while
-- something is unjudged; the pair columns are the sums that R is made of: only questions with stars of the reference on the same
-- set and style.
-- A session that is not complete has its row, and enters no leaderboard: something is still unjudged, or more than 0.5% of the
-- candidate's answers in the edition (unparsed_rate) have no stars because nobody could read a judgement of them.
WITH repeats AS (
    SELECT
        run_id,
        month,
        planned_at,
        bank_version,
        reference_model,
        is_reference,
        is_borrowed,
        session_id,
        set_id,
        model,
        organisation,
        prompt_style,
        repeat,
        judge,
        sum(question_count)::BIGINT AS question_count,
        sum(scored_count)::BIGINT AS scored_count,
        sum(resolved_count)::BIGINT AS resolved_count,
        sum(unparsed_count)::BIGINT AS unparsed_count,
        sum(unjudged_count)::BIGINT AS unjudged_count,
        sum(star_count)::BIGINT AS star_count,
        sum(pair_count)::BIGINT AS pair_count,
        sum(pair_stars) AS pair_stars,
        sum(reference_pair_stars) AS reference_pair_stars,
        is_provisional,
        is_simulated
    FROM session_discipline_stars
    GROUP BY ALL
)

SELECT
    * EXCLUDE (star_count, is_provisional, is_simulated),
    CASE WHEN unjudged_count = 0 THEN star_count / (3 * question_count) * 100 END AS score,
    sum(unparsed_count) OVER candidates / sum(question_count) OVER candidates AS unparsed_rate,
    unjudged_count = 0
    AND sum(unparsed_count) OVER candidates <= 0.005 * sum(question_count) OVER candidates AS is_complete,
    is_provisional,
    is_simulated
FROM repeats
WINDOW candidates AS (PARTITION BY run_id, model)
