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
    count(*) AS question_count,
    count(stars) AS scored_count,
    count(*) FILTER (score_status = 'unparsed') AS unparsed_count,
    count(*) FILTER (score_status = 'unjudged') AS unjudged_count,
    sum(stars) / (3 * nullif(count(stars), 0)) * 100 AS score,
    count(*) FILTER (stars IS NOT NULL AND reference_stars IS NOT NULL) AS pair_count,
    sum(stars) FILTER (reference_stars IS NOT NULL) AS pair_stars,
    sum(reference_stars) FILTER (stars IS NOT NULL) AS reference_pair_stars,
    count(*) FILTER (score_status = 'unjudged') = 0 AS is_complete,
    is_provisional,
    is_simulated
FROM edition_responses
GROUP BY ALL
