-- How many of each candidate's answers are memorised: flagged by a judge, and confirmed by a person?
-- One row per league, domain and candidate. Rates are of its readable answers, in percent; the 95% interval of the confirmed rate
-- is Wilson's. Flags that wait for a person are in flagged_count and not in confirmed_count. Of questions that people refused nothing counts.
-- Parameters: $league_id (default null)
-- No rows: no league was played: `proctor league run NAME --candidates … --domain …` plays one.
WITH refused AS (
    SELECT league_id, league_question_id
    FROM league_question_votes
    WHERE validity = 'refused'
),

answered AS (
    SELECT
        league_id,
        domain,
        answerer,
        count(*) AS answer_count
    FROM league_answers
    ANTI JOIN refused USING (league_id, league_question_id)
    WHERE response IS NOT NULL AND league_id = coalesce($league_id::VARCHAR, league_id)
    GROUP BY league_id, domain, answerer
),

flagged AS (
    SELECT
        league_id,
        domain,
        answerer,
        count(*) AS flagged_count,
        count(*) FILTER (WHERE decision = 'waiting') AS waiting_count,
        count(*) FILTER (WHERE decision = 'confirmed') AS confirmed_count
    FROM league_memorised_answers
    ANTI JOIN refused USING (league_id, league_question_id)
    GROUP BY league_id, domain, answerer
),

rates AS (
    SELECT
        answered.*,
        coalesce(flagged.flagged_count, 0) AS flagged_count,
        coalesce(flagged.waiting_count, 0) AS waiting_count,
        coalesce(flagged.confirmed_count, 0) AS confirmed_count,
        coalesce(flagged.confirmed_count, 0) / answered.answer_count AS share,
        1.959964 * 1.959964 AS z2
    FROM answered
    LEFT JOIN flagged
        ON
            flagged.league_id = answered.league_id
            AND flagged.domain = answered.domain
            AND flagged.answerer = answered.answerer
)

SELECT
    league_id,
    domain,
    answerer,
    answer_count,
    flagged_count,
    waiting_count,
    confirmed_count,
    round(100 * flagged_count / answer_count, 2) AS flagged_rate,
    round(100 * share, 2) AS confirmed_rate,
    round(100 * greatest(0, (
        share + z2 / (2 * answer_count)
        - sqrt(z2 * (share * (1 - share) / answer_count + z2 / (4 * answer_count * answer_count)))
    ) / (1 + z2 / answer_count)), 2) AS confirmed_rate_low,
    round(100 * least(1, (
        share + z2 / (2 * answer_count)
        + sqrt(z2 * (share * (1 - share) / answer_count + z2 / (4 * answer_count * answer_count)))
    ) / (1 + z2 / answer_count)), 2) AS confirmed_rate_high,
    leagues.is_simulated
FROM rates
JOIN leagues USING (league_id)
ORDER BY league_id, domain, confirmed_rate DESC, answerer
