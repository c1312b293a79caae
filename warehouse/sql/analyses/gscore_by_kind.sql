-- What are the Gscores of each kind of item made of?
-- One row per run, model, profile, similarity model and kind of item: definitions and short answers have the four parts,
-- calculations and arithmetic the shares of right answers (exact, in any order, equal in value) and the steps' chrF. Every score is
-- reported x 100 and is a mean over the items that have it; guessed_count are final answers taken from a last line.
-- No rows: no answer has a Gscore: `proctor cgeval import FILE`, then `proctor cgeval run --models … --references FILE`.
SELECT
    run_id,
    model,
    is_simulated,
    profile,
    similarity_model,
    item_kind,
    avg(gscore::DECIMAL(38, 18)) * 100 AS gscore,
    avg(bleu4::DECIMAL(38, 18)) * 100 AS bleu4,
    avg(rouge2::DECIMAL(38, 18)) * 100 AS rouge2,
    avg(chrf::DECIMAL(38, 18)) * 100 AS chrf,
    avg(similarity::DECIMAL(38, 18)) * 100 AS similarity,
    avg(accuracy::DECIMAL(38, 18)) * 100 AS accuracy,
    avg(accuracy_unordered::DECIMAL(38, 18)) * 100 AS accuracy_unordered,
    avg(accuracy_symbolic::DECIMAL(38, 18)) * 100 AS accuracy_symbolic,
    avg(step_chrf::DECIMAL(38, 18)) * 100 AS step_chrf,
    count(*) AS item_count,
    count(gscore) AS scored_count,
    count(*) - count(response) AS unanswered_count,
    count(*) FILTER (WHERE answer_status IN ('empty', 'refused')) AS empty_count,
    count(*) FILTER (WHERE answer_status = 'truncated') AS truncated_count,
    count(*) FILTER (WHERE answer_found_by = 'last_line' AND item_kind = 'calculation') AS guessed_count
FROM gscores
GROUP BY run_id, model, is_simulated, profile, similarity_model, item_kind
ORDER BY run_id, profile, similarity_model, model, item_kind
