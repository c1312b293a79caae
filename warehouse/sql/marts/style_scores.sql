-- What did each candidate score in each month under each prompt style?
-- One row per published run, candidate and prompt style, as frozen in the run's last edition: nothing is computed anew.
-- score has a standard error and a 95% interval over the drawing of questions; score_sd is the spread over the repeats, which
-- is another thing. rank is by score within edition and style; rank_low to rank_high are the places that the data do not rule
-- out. Groups are runs of that order: a group begins with its best candidate and ends after the last one that cannot be told
-- from it, so that whoever stands in a lower group is distinguishable from the best of every higher group. Two neighbours on
-- either side of a border may still be alike: rank_comparisons tells of each pair. equated_score stands beside S, never
-- instead of it. style_mean and style_variance (of the population) are over the styles that the candidate sat in the run.
-- Means are rounded to nine decimals: DuckDB adds up in any order, and the same lake is to give the same table.
-- A second run of a month stands beside the first (is_repetition), never instead of it. Descriptions of a candidate are as
-- last registered, so that a corrected release date holds for every month.
WITH scores AS (
    SELECT
        s.edition_id,
        s.run_id,
        s.month,
        s.prompt_style,
        s.model,
        s.organisation,
        s.is_simulated,
        any_value(s) FILTER (s.discipline = 'all') AS total,
        max(s.score / 10) FILTER (s.discipline = 'Engineering') AS engineering,
        max(s.score / 10) FILTER (s.discipline = 'Economics') AS economics,
        max(s.score / 10) FILTER (s.discipline = 'Education') AS education,
        max(s.score / 10) FILTER (s.discipline = 'Law') AS law,
        max(s.score / 10) FILTER (s.discipline = 'Literature') AS literature,
        max(s.score / 10) FILTER (s.discipline = 'Management') AS management,
        max(s.score / 10) FILTER (s.discipline = 'Science') AS science,
        max(s.score / 10) FILTER (s.discipline = 'History') AS history,
        max(s.score / 10) FILTER (s.discipline = 'Medicine') AS medicine,
        max(s.score / 10) FILTER (s.discipline = 'Military Science') AS military_science,
        max(s.score / 10) FILTER (s.discipline = 'Philosophy') AS philosophy,
        max(s.score / 10) FILTER (s.discipline = 'Agronomy') AS agronomy,
        max(s.score / 10) FILTER (s.discipline = 'Arts') AS arts
    FROM edition_scores AS s
    GROUP BY s.edition_id, s.run_id, s.month, s.prompt_style, s.model, s.organisation, s.is_simulated
),

-- One reason withholds all disciplines of an edition.
withheld AS (
    SELECT edition_id, month, max(withheld) AS unequated_because
    FROM edition_fits
    GROUP BY edition_id, month
),

descriptions AS (
    SELECT models.*
    FROM models
    JOIN runs ON runs.run_id = models.run_id
    QUALIFY row_number() OVER (
        PARTITION BY models.model, models.is_simulated
        ORDER BY runs.planned_at DESC, models.run_id DESC
    ) = 1
)

SELECT
    s.month,
    s.prompt_style,
    s.total.rank AS rank,
    s.model,
    s.organisation,
    m.family,
    m.mode,
    m.base_model,
    m.is_open,
    m.release_date,
    s.total.score AS score,
    s.total.score_se AS score_se,
    s.total.score_low AS score_low,
    s.total.score_high AS score_high,
    s.total.score_sd AS score_sd,
    s.total.lowest_score AS lowest_score,
    s.total.highest_score AS highest_score,
    s.total.rank_low AS rank_low,
    s.total.rank_high AS rank_high,
    s.total.rank_group AS rank_group,
    s.total.relative_score AS relative_score,
    s.total.relative_low AS relative_low,
    s.total.relative_high AS relative_high,
    s.total.pair_count AS pair_count,
    e.reference_model,
    s.total.is_reference AS is_reference,
    s.total.chance_score AS chance_score,
    s.total.chance_answers AS chance_answers,
    s.total.corrected_score AS corrected_score,
    s.total.equated_score AS equated_score,
    s.total.equated_low AS equated_low,
    s.total.equated_high AS equated_high,
    s.total.is_equated_apart AS is_equated_apart,
    w.unequated_because,
    s.engineering,
    s.economics,
    s.education,
    s.law,
    s.literature,
    s.management,
    s.science,
    s.history,
    s.medicine,
    s.military_science,
    s.philosophy,
    s.agronomy,
    s.arts,
    round(avg(s.total.score ORDER BY s.total.score) OVER styles, 9) AS style_mean,
    round(var_pop(s.total.score ORDER BY s.total.score) OVER styles, 9) AS style_variance,
    count(s.total.score) OVER styles AS style_count,
    s.total.repeat_count AS repeat_count,
    s.total.question_count AS question_count,
    s.total.scored_count AS scored_count,
    s.total.unparsed_count AS unparsed_count,
    s.total.unanswered_count AS unanswered_count,
    e.judge,
    s.run_id,
    s.edition_id,
    e.revision,
    e.is_repetition,
    e.published_at,
    coalesce(g.grade, 'self-attested') AS grade,
    e.overridden_gates,
    e.override_reason,
    e.bank_version,
    e.is_provisional,
    e.provisional_because,
    e.picture_scope,
    e.control_count,
    e.control_wrong_count,
    e.control_gap,
    e.key_count,
    e.key_disagreement_count,
    s.is_simulated,
    e.is_shown_by_default
FROM scores AS s
JOIN current_editions AS e ON e.edition_id = s.edition_id AND e.month = s.month
LEFT JOIN edition_grades AS g ON g.edition_id = s.edition_id
LEFT JOIN withheld AS w ON w.edition_id = s.edition_id AND w.month = s.month
LEFT JOIN descriptions AS m ON m.model = s.model AND m.is_simulated = s.is_simulated
WINDOW styles AS (PARTITION BY s.edition_id, s.month, s.model, s.is_simulated)
