-- Which of two judges agrees more with people, and is the difference more than chance?
-- One row per occasion and pair of judges, on the rated responses that both judged; judge_a agrees more.
-- Parameters: $occasion (default null)
-- Shown: judge_a, judge_b, pair_count, difference, difference_low, difference_high, p_value, is_distinguishable
-- No rows: no two judges were compared with people on the same responses: `proctor calibrate report` once two have judged the run.
SELECT
    * EXCLUDE (landing_unit),
    coalesce(
        (SELECT bool_and(p.is_simulated) FROM calibration_pairs AS p WHERE p.occasion = c.occasion AND p.judge = c.judge_a),
        false
    ) AS is_simulated
FROM judge_differences AS c
WHERE occasion = coalesce($occasion::VARCHAR, occasion)
ORDER BY occasion, judge_a, prompt_version_a, judge_b, prompt_version_b
