-- What did a league cost, and how many tokens did each candidate use?
-- One row per league, domain, candidate and role: asking, answering and judging, with tokens and dollars; of the answers of an entrant
-- dollars alone. Leagues that were imported have none.
-- Parameters: $league_id (default null)
-- Shown: domain, model, role, call_count, input_tokens, output_tokens, cost_usd
-- No rows: no league was played: `proctor league run NAME --candidates … --domain …` plays one.
WITH spent AS (
    SELECT league_id, domain, asker AS model, 'asker' AS role, call_count, input_tokens, output_tokens, cost_usd
    FROM league_questions
    UNION ALL
    SELECT league_id, domain, answerer AS model, 'answerer' AS role, call_count, input_tokens, output_tokens, cost_usd
    FROM league_answers
    UNION ALL
    SELECT league_id, domain, judge AS model, 'judge' AS role, call_count, input_tokens, output_tokens, cost_usd
    FROM league_evaluations
    UNION ALL
    SELECT league_id, domain, judge AS model, 'judge' AS role, call_count, input_tokens, output_tokens, cost_usd
    FROM league_matches
    UNION ALL
    SELECT league_id, domain, entrant AS model, 'answerer' AS role, NULL, NULL, NULL, answer_cost_usd
    FROM league_matches
    WHERE answer_cost_usd IS NOT NULL
)

SELECT
    league_id,
    domain,
    model,
    role,
    sum(call_count)::BIGINT AS call_count,
    sum(input_tokens)::BIGINT AS input_tokens,
    sum(output_tokens)::BIGINT AS output_tokens,
    sum(cost_usd::DECIMAL(38, 18))::DOUBLE AS cost_usd,
    leagues.is_simulated
FROM spent
JOIN leagues USING (league_id)
WHERE league_id = coalesce($league_id::VARCHAR, league_id)
GROUP BY league_id, domain, model, role, leagues.is_simulated
ORDER BY league_id, domain, model, role
