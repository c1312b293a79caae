-- Which questions were set in a league, how original are they, and what did people say of them?
-- One row per question: its texts, what others got on it, its nearest neighbours by 5-grams and by meaning, and how many people
-- took it for right. Questions of a league are shown to whoever may read the lake.
-- Parameters: $league_id (default null), $domain (default null)
-- Shown: domain, league_run, round, asker, topic, mean_score, ngram_overlap, similarity, valid_count, invalid_count
-- No rows: no league was played: `proctor league run NAME --candidates … --domain …` plays one.
WITH nearest AS (
    SELECT
        o.league_id,
        o.league_question_id,
        max(o.ngram_overlap) AS ngram_overlap,
        max(o.similarity) AS similarity,
        -- Of texts that are equally near, the first by name.
        first(o.compared_with ORDER BY coalesce(o.ngram_overlap, o.similarity) DESC, o.compared_with)
            FILTER (coalesce(o.ngram_overlap, o.similarity) IS NOT NULL) AS nearest_in
    FROM league_originality AS o
    JOIN league_questions AS q ON
        q.league_id = o.league_id
        AND q.league_question_id = o.league_question_id
    -- The last draft is the question.
    WHERE o.draft = coalesce(q.draft_count, o.draft)
    GROUP BY o.league_id, o.league_question_id
),

validated AS (
    SELECT
        league_id,
        league_question_id,
        count_if(is_valid) AS valid_count,
        count_if(NOT is_valid) AS invalid_count
    FROM league_validations
    GROUP BY league_id, league_question_id
),

marked AS (
    SELECT league_id, league_question_id, avg(score ORDER BY score) AS mean_score, count(score) AS score_count
    FROM league_marks
    WHERE league_question_id IS NOT NULL AND run_type = 'full'
    GROUP BY league_id, league_question_id
)

SELECT
    q.league_id,
    q.domain,
    q.league_run,
    q.round,
    q.asker,
    q.topic,
    q.stem,
    q.reference_answer,
    q.principle,
    q.scoring_standard,
    q.draft_count,
    q.self_consistency,
    q.execution,
    m.mean_score,
    coalesce(m.score_count, 0) AS score_count,
    n.ngram_overlap,
    n.similarity,
    n.nearest_in,
    coalesce(v.valid_count, 0) AS valid_count,
    coalesce(v.invalid_count, 0) AS invalid_count,
    q.parse_status,
    q.league_question_id,
    leagues.is_simulated
FROM league_questions AS q
JOIN leagues ON leagues.league_id = q.league_id
LEFT JOIN nearest AS n ON n.league_id = q.league_id AND n.league_question_id = q.league_question_id
LEFT JOIN validated AS v ON v.league_id = q.league_id AND v.league_question_id = q.league_question_id
LEFT JOIN marked AS m ON m.league_id = q.league_id AND m.league_question_id = q.league_question_id
WHERE q.league_id = coalesce($league_id::VARCHAR, q.league_id)
    AND q.domain = coalesce($domain::VARCHAR, q.domain)
ORDER BY q.league_id, q.domain, q.league_run, q.round
