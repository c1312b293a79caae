-- Where does every candidate stand that was ever examined?
-- One row per candidate (and is_simulated), as of the last month that was published: its latest edition with its month, S and
-- R of then, and standing_score, by which it is ranked: the equated score by the last edition's fit, S where there is none.
-- comparability says how that compares with the candidates of the last month: same_edition, same_reference (it sat the same
-- reference's questions in an earlier month), anchors (linked by questions that were asked again), or none.
-- An earlier month that was published, or corrected, after the last one stands by its S, and all are ranked again.
WITH last_edition AS (
    SELECT *
    FROM current_editions
    WHERE NOT is_repetition
    QUALIFY row_number() OVER (PARTITION BY is_simulated ORDER BY month DESC, planned_at DESC, run_id DESC) = 1
),

stood AS (
    SELECT s.* EXCLUDE (landing_unit), false AS is_later
    FROM edition_standings AS s
    SEMI JOIN last_edition AS l ON l.edition_id = s.edition_id
),

-- What the last edition could not know.
later AS (
    SELECT
        l.edition_id,
        l.month,
        s.model,
        s.organisation,
        s.edition_id AS sat_edition_id,
        s.month AS sat_month,
        e.reference_model,
        s.score,
        s.score_low,
        s.score_high,
        s.relative_score,
        s.score AS standing_score,
        s.score_low AS standing_low,
        s.score_high AS standing_high,
        NULL::BIGINT AS rank,
        -- A team is told no reference that is not its own.
        CASE
            WHEN e.reference_model = l.reference_model THEN 'same_reference'
            WHEN e.reference_model <> l.reference_model THEN 'none'
        END AS comparability,
        s.is_simulated,
        true AS is_later
    FROM edition_scores AS s
    JOIN current_editions AS e ON e.edition_id = s.edition_id AND e.month = s.month
    JOIN last_edition AS l ON l.is_simulated = s.is_simulated AND l.published_at < e.published_at
    WHERE s.discipline = 'all' AND s.prompt_style = 'zero_shot' AND NOT e.is_repetition
    QUALIFY row_number() OVER (PARTITION BY s.model, s.is_simulated ORDER BY s.month DESC, e.planned_at DESC) = 1
),

latest AS (
    SELECT * FROM (FROM stood UNION ALL BY NAME FROM later)
    QUALIFY row_number() OVER (PARTITION BY model, is_simulated ORDER BY sat_month DESC, is_later DESC) = 1
)

SELECT
    s.* EXCLUDE (is_later) REPLACE (
        CASE
            -- A team sees its own rows alone, whose ranks are among all, and no bank. (What lands daily is not asked: the report would be
            -- written anew each time.)
            WHEN NOT bool_or(s.is_later) OVER everybody OR NOT EXISTS (SELECT 1 FROM bank_versions) THEN s.rank
            WHEN s.comparability <> 'none' AND s.standing_score IS NOT NULL
                THEN rank() OVER (
                    PARTITION BY s.is_simulated, s.comparability <> 'none'
                    ORDER BY round(s.standing_score, 9) DESC NULLS LAST
                )
        END AS rank
    ),
    e.published_at,
    e.is_provisional,
    e.is_shown_by_default
FROM latest AS s
JOIN last_edition AS e ON e.edition_id = s.edition_id
WINDOW everybody AS (PARTITION BY s.is_simulated)
