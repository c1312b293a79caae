-- Which units hold another number of rows than their landing says, or were never landed?
-- One row per table and unit; passes when empty.
WITH held AS (
    SELECT 'documents' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM documents
    GROUP BY landing_unit
    UNION ALL
    SELECT 'document_texts' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM document_texts
    GROUP BY landing_unit
    UNION ALL
    SELECT 'document_releases' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM document_releases
    GROUP BY landing_unit
    UNION ALL
    SELECT 'layouts' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM layouts
    GROUP BY landing_unit
    UNION ALL
    SELECT 'confidence_fits' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM confidence_fits
    GROUP BY landing_unit
    UNION ALL
    SELECT 'questions' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM questions
    GROUP BY landing_unit
    UNION ALL
    SELECT 'review_assignments' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM review_assignments
    GROUP BY landing_unit
    UNION ALL
    SELECT 'reviews' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM reviews
    GROUP BY landing_unit
    UNION ALL
    SELECT 'review_messages' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM review_messages
    GROUP BY landing_unit
    UNION ALL
    SELECT 'gold_reviews' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM gold_reviews
    GROUP BY landing_unit
    UNION ALL
    SELECT 'review_decisions' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM review_decisions
    GROUP BY landing_unit
    UNION ALL
    SELECT 'variants' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM variants
    GROUP BY landing_unit
    UNION ALL
    SELECT 'variant_batches' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM variant_batches
    GROUP BY landing_unit
    UNION ALL
    SELECT 'variant_drafts' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM variant_drafts
    GROUP BY landing_unit
    UNION ALL
    SELECT 'duplicates' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM duplicates
    GROUP BY landing_unit
    UNION ALL
    SELECT 'bank_contents' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM bank_contents
    GROUP BY landing_unit
    UNION ALL
    SELECT 'bank_exits' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM bank_exits
    GROUP BY landing_unit
    UNION ALL
    SELECT 'bank_retirements' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM bank_retirements
    GROUP BY landing_unit
    UNION ALL
    SELECT 'bank_sources' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM bank_sources
    GROUP BY landing_unit
    UNION ALL
    SELECT 'question_signatures' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM question_signatures
    GROUP BY landing_unit
    UNION ALL
    SELECT 'bank_versions' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM bank_versions
    GROUP BY landing_unit
    UNION ALL
    SELECT 'semantic_pairs' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM semantic_pairs
    GROUP BY landing_unit
    UNION ALL
    SELECT 'models' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM models
    GROUP BY landing_unit
    UNION ALL
    SELECT 'runs' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM runs
    GROUP BY landing_unit
    UNION ALL
    SELECT 'sets' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM sets
    GROUP BY landing_unit
    UNION ALL
    SELECT 'sessions' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM sessions
    GROUP BY landing_unit
    UNION ALL
    SELECT 'allocations' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM allocations
    GROUP BY landing_unit
    UNION ALL
    SELECT 'responses' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM responses
    GROUP BY landing_unit
    UNION ALL
    SELECT 'erasures' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM erasures
    GROUP BY landing_unit
    UNION ALL
    SELECT 'judgements' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM judgements
    GROUP BY landing_unit
    UNION ALL
    SELECT 'judge_controls' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM judge_controls
    GROUP BY landing_unit
    UNION ALL
    SELECT 'pictures' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM pictures
    GROUP BY landing_unit
    UNION ALL
    SELECT 'human_ratings' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM human_ratings
    GROUP BY landing_unit
    UNION ALL
    SELECT 'calibration' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM calibration
    GROUP BY landing_unit
    UNION ALL
    SELECT 'error_labels' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM error_labels
    GROUP BY landing_unit
    UNION ALL
    SELECT 'closed_months' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM closed_months
    GROUP BY landing_unit
    UNION ALL
    SELECT 'closed_sessions_left_out' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM closed_sessions_left_out
    GROUP BY landing_unit
    UNION ALL
    SELECT 'closed_resolved_judgements' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM closed_resolved_judgements
    GROUP BY landing_unit
    UNION ALL
    SELECT 'closed_unparsed_judgements' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM closed_unparsed_judgements
    GROUP BY landing_unit
    UNION ALL
    SELECT 'closed_judge_agreement' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM closed_judge_agreement
    GROUP BY landing_unit
    UNION ALL
    SELECT 'closed_judge_means' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM closed_judge_means
    GROUP BY landing_unit
    UNION ALL
    SELECT 'improvements' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM improvements
    GROUP BY landing_unit
    UNION ALL
    SELECT 'gscores' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM gscores
    GROUP BY landing_unit
    UNION ALL
    SELECT 'external_scores' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM external_scores
    GROUP BY landing_unit
    UNION ALL
    SELECT 'replays' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM replays
    GROUP BY landing_unit
    UNION ALL
    SELECT 'bootstrap_scores' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM bootstrap_scores
    GROUP BY landing_unit
    UNION ALL
    SELECT 'rating_curves' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM rating_curves
    GROUP BY landing_unit
    UNION ALL
    SELECT 'leagues' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM leagues
    GROUP BY landing_unit
    UNION ALL
    SELECT 'league_candidates' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM league_candidates
    GROUP BY landing_unit
    UNION ALL
    SELECT 'league_rounds' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM league_rounds
    GROUP BY landing_unit
    UNION ALL
    SELECT 'league_questions' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM league_questions
    GROUP BY landing_unit
    UNION ALL
    SELECT 'league_answers' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM league_answers
    GROUP BY landing_unit
    UNION ALL
    SELECT 'league_evaluations' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM league_evaluations
    GROUP BY landing_unit
    UNION ALL
    SELECT 'league_rankings' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM league_rankings
    GROUP BY landing_unit
    UNION ALL
    SELECT 'league_originality' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM league_originality
    GROUP BY landing_unit
    UNION ALL
    SELECT 'league_flags' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM league_flags
    GROUP BY landing_unit
    UNION ALL
    SELECT 'league_flag_decisions' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM league_flag_decisions
    GROUP BY landing_unit
    UNION ALL
    SELECT 'league_validations' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM league_validations
    GROUP BY landing_unit
    UNION ALL
    SELECT 'league_matches' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM league_matches
    GROUP BY landing_unit
    UNION ALL
    SELECT 'imported_league_scores' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM imported_league_scores
    GROUP BY landing_unit
    UNION ALL
    SELECT 'imported_league_overlaps' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM imported_league_overlaps
    GROUP BY landing_unit
    UNION ALL
    SELECT 'league_scores' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM league_scores
    GROUP BY landing_unit
    UNION ALL
    SELECT 'league_anova' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM league_anova
    GROUP BY landing_unit
    UNION ALL
    SELECT 'league_pairs' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM league_pairs
    GROUP BY landing_unit
    UNION ALL
    SELECT 'league_family_bias' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM league_family_bias
    GROUP BY landing_unit
    UNION ALL
    SELECT 'league_consistency' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM league_consistency
    GROUP BY landing_unit
    UNION ALL
    SELECT 'league_correlations' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM league_correlations
    GROUP BY landing_unit
    UNION ALL
    SELECT 'league_replays' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM league_replays
    GROUP BY landing_unit
    UNION ALL
    SELECT 'restore_checks' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM restore_checks
    GROUP BY landing_unit
    UNION ALL
    SELECT 'llm_calls' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM llm_calls
    GROUP BY landing_unit
    UNION ALL
    SELECT 'access_log' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM access_log
    GROUP BY landing_unit
    UNION ALL
    SELECT 'archived_rows' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM archived_rows
    GROUP BY landing_unit
    UNION ALL
    SELECT 'editions' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM editions
    GROUP BY landing_unit
    UNION ALL
    SELECT 'edition_sessions' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM edition_sessions
    GROUP BY landing_unit
    UNION ALL
    SELECT 'edition_stars' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM edition_stars
    GROUP BY landing_unit
    UNION ALL
    SELECT 'edition_scores' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM edition_scores
    GROUP BY landing_unit
    UNION ALL
    SELECT 'edition_grades' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM edition_grades
    GROUP BY landing_unit
    UNION ALL
    SELECT 'edition_pairs' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM edition_pairs
    GROUP BY landing_unit
    UNION ALL
    SELECT 'edition_series' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM edition_series
    GROUP BY landing_unit
    UNION ALL
    SELECT 'edition_items' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM edition_items
    GROUP BY landing_unit
    UNION ALL
    SELECT 'edition_fits' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM edition_fits
    GROUP BY landing_unit
    UNION ALL
    SELECT 'edition_standings' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM edition_standings
    GROUP BY landing_unit
    UNION ALL
    SELECT 'replay_spans' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM replay_spans
    GROUP BY landing_unit
    UNION ALL
    SELECT 'imported_marks' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM imported_marks
    GROUP BY landing_unit
    UNION ALL
    SELECT 'error_samples' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM error_samples
    GROUP BY landing_unit
    UNION ALL
    SELECT 'calibration_samples' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM calibration_samples
    GROUP BY landing_unit
    UNION ALL
    SELECT 'calibration_pairs' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM calibration_pairs
    GROUP BY landing_unit
    UNION ALL
    SELECT 'calibration_groups' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM calibration_groups
    GROUP BY landing_unit
    UNION ALL
    SELECT 'judge_differences' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM judge_differences
    GROUP BY landing_unit
    UNION ALL
    SELECT 'corrected_scores' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM corrected_scores
    GROUP BY landing_unit
    UNION ALL
    SELECT 'jury_judges' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM jury_judges
    GROUP BY landing_unit
    UNION ALL
    SELECT 'jury_confusions' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM jury_confusions
    GROUP BY landing_unit
    UNION ALL
    SELECT 'jury_scores' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM jury_scores
    GROUP BY landing_unit
    UNION ALL
    SELECT 'jury_stars' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM jury_stars
    GROUP BY landing_unit
    UNION ALL
    SELECT 'judge_style_effects' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM judge_style_effects
    GROUP BY landing_unit
    UNION ALL
    SELECT 'style_controlled_scores' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM style_controlled_scores
    GROUP BY landing_unit
    UNION ALL
    SELECT 'anchor_responses' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM anchor_responses
    GROUP BY landing_unit
    UNION ALL
    SELECT 'anchor_judgements' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM anchor_judgements
    GROUP BY landing_unit
    UNION ALL
    SELECT 'judge_drift' AS table_name, landing_unit AS unit, count(*) AS row_count
    FROM judge_drift
    GROUP BY landing_unit
)

SELECT
    coalesce(landings.table_name, held.table_name) AS table_name,
    coalesce(landings.unit, held.unit) AS unit,
    landings.row_count AS landed_count,
    coalesce(held.row_count, 0) AS held_count
FROM landings
FULL JOIN held ON held.table_name = landings.table_name AND held.unit = landings.unit
WHERE landings.unit IS NULL OR landings.row_count <> coalesce(held.row_count, 0)
ORDER BY ALL
