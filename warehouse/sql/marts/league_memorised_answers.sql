-- Which answers did judges take for memorised, and what do people say of them?
-- One row per flagged answer of the full run. decision: confirmed or refused (the majority of those who decided, a tie refuses),
-- or waiting (nobody has decided).
WITH flagged AS (
    SELECT
        league_id,
        domain,
        league_run,
        round,
        league_question_id,
        answerer,
        count(*) AS judge_count,
        list(template ORDER BY judge) AS templates
    FROM league_flags
    WHERE run_type = 'full'
    GROUP BY league_id, domain, league_run, round, league_question_id, answerer
),

decided AS (
    SELECT
        league_id,
        league_question_id,
        answerer,
        count(*) AS person_count,
        count(*) FILTER (WHERE is_memorised) AS confirmed_count
    FROM league_flag_decisions
    GROUP BY league_id, league_question_id, answerer
)

SELECT
    flagged.league_id,
    flagged.domain,
    flagged.league_run,
    flagged.round,
    flagged.league_question_id,
    flagged.answerer,
    flagged.judge_count,
    flagged.templates,
    coalesce(decided.person_count, 0) AS person_count,
    CASE
        WHEN decided.person_count IS NULL THEN 'waiting'
        WHEN decided.confirmed_count * 2 > decided.person_count THEN 'confirmed'
        ELSE 'refused'
    END AS decision
FROM flagged
LEFT JOIN decided
    ON
        decided.league_id = flagged.league_id
        AND decided.league_question_id = flagged.league_question_id
        AND decided.answerer = flagged.answerer
