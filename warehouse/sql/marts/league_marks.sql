-- What did every judge give every answer in a league?
-- One row per score: of finished rounds of leagues that were played here, and of leagues that were imported. A null score could
-- not be read; it is in no mean. Of questions that people refused there is none, nor of lists that no judge was asked for. Where judge is
-- null the score is a mean over judges, as a file gave it.
SELECT
    e.league_id,
    e.domain,
    e.run_type,
    e.league_run,
    e.round,
    r.asker,
    e.judge,
    e.answerer,
    e.rank,
    e.score,
    CASE
        WHEN count(e.rank) OVER (PARTITION BY e.league_id, e.domain) > 0 THEN members.member_count - 2.0
        ELSE 100.0
    END AS most_points,
    e.league_question_id,
    FALSE AS is_imported,
    l.is_simulated
FROM league_evaluations AS e
JOIN league_rounds AS r ON
    r.league_id = e.league_id
    AND r.domain = e.domain
    AND r.run_type = e.run_type
    AND r.league_run = e.league_run
    AND r.round = e.round
JOIN leagues AS l ON l.league_id = e.league_id
JOIN (
    SELECT league_id, count(*) AS member_count
    FROM league_candidates
    WHERE joined = 'member'
    GROUP BY league_id
) AS members ON members.league_id = e.league_id
ANTI JOIN (
    SELECT league_id, league_question_id FROM league_question_votes WHERE validity = 'refused'
) AS refused ON
    refused.league_id = e.league_id
    AND refused.league_question_id = e.league_question_id
WHERE e.prompt_version IS DISTINCT FROM 'none'
UNION ALL
SELECT
    i.league_id,
    i.domain,
    i.run_type,
    i.league_run,
    i.round,
    i.asker,
    i.judge,
    i.answerer,
    i.rank,
    i.score,
    i.most_points,
    NULL AS league_question_id,
    TRUE AS is_imported,
    l.is_simulated
FROM imported_league_scores AS i
JOIN leagues AS l ON l.league_id = i.league_id
