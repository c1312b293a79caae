-- What did each repeat of each candidate score in each edition?
-- One row per edition (run) and session: every repeat is kept. score is S (0 to 100); the pair columns are the sums that R is
-- made of: only questions with stars for both the candidate and the reference on the same set and style.
-- A session that is not complete (something is still unjudged) has its row, and enters no leaderboard.
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
    sum(unparsed_count)::BIGINT AS unparsed_count,
    sum(unjudged_count)::BIGINT AS unjudged_count,
    sum(star_count) / (3 * nullif(sum(scored_count), 0)) * 100 AS score,
    sum(pair_count)::BIGINT AS pair_count,
    sum(pair_stars) AS pair_stars,
    sum(reference_pair_stars) AS reference_pair_stars,
    sum(unjudged_count) = 0 AS is_complete,
    is_provisional,
    is_simulated
FROM session_discipline_stars
GROUP BY ALL
