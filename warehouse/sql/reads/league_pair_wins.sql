-- How often did judges prefer one candidate's answer to another's, in the full run of a domain?
-- One row per winner and loser; an equal pair is half a win for each. Questions that people refused are left out.
-- Parameters: $league_id, $domain
WITH scored AS (
    SELECT
        league_question_id,
        judge,
        answerer,
        score
    FROM league_evaluations
    WHERE league_id = $league_id AND domain = $domain AND run_type = 'full' AND score IS NOT NULL
        AND league_question_id NOT IN (
            SELECT league_question_id FROM league_question_votes WHERE league_id = $league_id AND validity = 'refused'
        )
)

SELECT
    one.answerer AS winner,
    other.answerer AS loser,
    sum(if(one.score > other.score, 2, 1)) / 2 AS win_count
FROM scored AS one
INNER JOIN scored AS other
    ON
        other.league_question_id = one.league_question_id
        AND other.judge = one.judge
        AND other.answerer <> one.answerer
WHERE one.score >= other.score
GROUP BY one.answerer, other.answerer
ORDER BY one.answerer, other.answerer
