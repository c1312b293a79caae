-- How much does each judge tell, discipline by discipline, where several judge the same responses?
-- One row per published run, judge, version of its prompt and discipline, by the last state of judgements and ratings. weight is the
-- judge's share of what all judges of the jury tell (information_bits); bias and agreement_rate are against the stars that the jury finds deserved.
-- Parameters: $month (default null), $simulated (default null)
-- Shown: month, judge, discipline, weight, information_bits, agreement_rate, bias, rated_count
-- No rows: no published run was judged by two judges and then looked at: `proctor calibrate report` does so for runs that several judges of the registry judged (`proctor judge`).
SELECT j.* EXCLUDE (landing_unit)
FROM jury_judges AS j
JOIN current_editions AS e ON e.edition_id = j.edition_id AND e.month = j.month
WHERE coalesce($simulated::BOOLEAN OR NOT j.is_simulated, e.is_shown_by_default)
    AND ($month::VARCHAR IS NULL OR j.month = $month)
QUALIFY rank() OVER (PARTITION BY j.edition_id ORDER BY j.computed_at DESC) = 1
ORDER BY j.month, j.edition_id, j.discipline <> 'all', j.discipline, j.weight DESC, j.judge, j.prompt_version
