-- What did a judge give the anchor responses of a set, month by month?
-- One row per response, month and repeat.
-- Parameters: $anchor_set, $judge, $prompt_version
SELECT judged_month, repeat, session_id, seq, stars
FROM anchor_judgements
WHERE anchor_set = $anchor_set AND judge = $judge AND prompt_version = $prompt_version
ORDER BY judged_month, repeat, session_id, seq
