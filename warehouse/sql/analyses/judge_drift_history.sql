-- Has a judge changed under an unchanged name?
-- One row per anchor set, judge, version of its prompt and month after its first: mean stars against the first month, the change
-- that is most likely with the month in which it began, and the evidence of it in units of the bound (above 1: an alarm).
-- Parameters: $judge (default null)
-- Shown: judge, month, month_stars, since_month, change_stars, evidence, is_alarm
-- No rows: no judge has judged an anchor set in two months: `proctor drift draw RUN`, then `proctor drift run --month YYYY-MM` in each (`proctor monthly` does that too).
SELECT * EXCLUDE (landing_unit)
FROM judge_drift
WHERE judge = coalesce($judge::VARCHAR, judge)
ORDER BY anchor_set, judge, prompt_version, month
