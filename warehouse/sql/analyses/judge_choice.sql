-- Which of two judges agrees more with people, and is the difference more than chance?
-- One row per occasion and pair of judges, on the rated responses that both judged; judge_a agrees more.
-- Parameters: $occasion (default null)
-- Shown: judge_a, judge_b, pair_count, difference, difference_low, difference_high, p_value, is_distinguishable
SELECT * EXCLUDE (landing_unit)
FROM judge_differences
WHERE occasion = coalesce($occasion::VARCHAR, occasion)
ORDER BY occasion, judge_a, prompt_version_a, judge_b, prompt_version_b
