-- Has the judge of an edition changed by the month of its run?
-- One row per judge and version asked for, one in all: the last check of the anchor set drawn last by the end of that month that the judge has judged; none before the second
-- month. A set drawn after an alarm begins anew.
-- Parameters: $judge, $prompt_version, $month, $is_simulated
SELECT d.* EXCLUDE (landing_unit)
FROM judge_drift AS d
JOIN (
    SELECT a.anchor_set
    FROM anchor_judgements AS j
    JOIN (SELECT anchor_set, min(drawn_at) AS drawn_at FROM anchor_responses GROUP BY anchor_set) AS a
        ON a.anchor_set = j.anchor_set
    WHERE j.judge = $judge
        AND j.prompt_version = $prompt_version
        AND j.judged_month <= $month
        AND j.is_simulated = $is_simulated
    ORDER BY a.drawn_at DESC, a.anchor_set
    LIMIT 1
) AS last ON last.anchor_set = d.anchor_set
WHERE d.judge = $judge AND d.prompt_version = $prompt_version AND d.month <= $month
ORDER BY d.month DESC
LIMIT 1
