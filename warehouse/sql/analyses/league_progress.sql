-- How far is each league: rounds, evaluations, cost, and what waits for people?
-- One row per league and type of run that has begun, or full for one that has not.
-- Shown: league_id, run_type, round_count, finished_count, evaluation_count, void_count, cost_usd, waiting_question_count, waiting_flag_count
-- Parameters: $league_id (default null)
-- cost_usd is what all calls of the league cost, in whatever type of run; null where no price is registered.
-- No rows: no league was claimed: `proctor league run NAME --candidates … --domain …` claims and plays one.
WITH types AS (
    SELECT
        league_id,
        run_type,
        count(*) AS finished_count,
        sum(evaluation_count) AS evaluation_count,
        sum(void_count) AS void_count,
        max(finished_at) AS last_finished_at
    FROM league_rounds
    GROUP BY league_id, run_type
),

costs AS (
    SELECT
        run_id,
        sum((coalesce(cost_usd, 0) + coalesce(extra_usd, 0))::DECIMAL(38, 18)) FILTER (cost_usd IS NOT NULL OR extra_usd > 0)::DOUBLE AS cost_usd
    FROM llm_calls
    WHERE starts_with(purpose, 'league_')
    GROUP BY run_id
),

questions AS (
    SELECT
        league_id,
        count(*) FILTER (WHERE validity = 'waiting') AS waiting_question_count,
        count(*) FILTER (WHERE validity = 'refused') AS refused_question_count
    FROM league_question_votes
    GROUP BY league_id
),

flags AS (
    SELECT
        league_id,
        count(*) FILTER (WHERE decision = 'waiting') AS waiting_flag_count
    FROM league_memorised_answers
    GROUP BY league_id
)

SELECT
    leagues.league_id,
    leagues.origin,
    array_to_string(leagues.domains, ', ') AS domains,
    coalesce(types.run_type, 'full') AS run_type,
    leagues.run_count * leagues.round_count * len(leagues.domains) AS round_count,
    coalesce(types.finished_count, 0) AS finished_count,
    coalesce(types.evaluation_count, 0)::BIGINT AS evaluation_count,
    coalesce(types.void_count, 0)::BIGINT AS void_count,
    costs.cost_usd,
    coalesce(questions.waiting_question_count, 0) AS waiting_question_count,
    coalesce(questions.refused_question_count, 0) AS refused_question_count,
    coalesce(flags.waiting_flag_count, 0) AS waiting_flag_count,
    leagues.is_simulated,
    leagues.created_at,
    types.last_finished_at
FROM leagues
LEFT JOIN types ON types.league_id = leagues.league_id
LEFT JOIN costs ON costs.run_id = 'league/' || leagues.league_id
LEFT JOIN questions ON questions.league_id = leagues.league_id
LEFT JOIN flags ON flags.league_id = leagues.league_id
WHERE leagues.league_id = coalesce($league_id::VARCHAR, leagues.league_id)
ORDER BY leagues.created_at, leagues.league_id, run_type
