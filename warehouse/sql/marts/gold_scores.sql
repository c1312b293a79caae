-- How do annotators do on questions with a known decision?
-- One row per review batch and annotator. right_rate is the share right of those decided, null without a decision; faults
-- let pass are missed_count, right questions refused or changed are false_alarm_count. Closed batches only.
SELECT
    batch_id,
    annotator,
    count(*) AS given_count,
    count(gold_result) AS decided_count,
    count(*) FILTER (gold_result = 'right') AS right_count,
    count(*) FILTER (gold_result = 'missed') AS missed_count,
    count(*) FILTER (gold_result = 'false_alarm') AS false_alarm_count,
    count(*) FILTER (gold_result = 'right') / nullif(count(gold_result), 0) AS right_rate,
    max(decided_at) AS last_decided_at
FROM gold_reviews
GROUP BY batch_id, annotator
