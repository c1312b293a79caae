-- In which run did a candidate give the answers that an edition counts?
-- One row per edition, candidate and prompt style that are asked for; none where the edition counts no session of theirs. The
-- reference's may be of an earlier run.
-- Parameters: $edition_id, $model, $prompt_style
SELECT any_value(sat_in_run_id) AS sat_in_run_id
FROM edition_sessions
WHERE edition_id = $edition_id AND model = $model AND prompt_style = $prompt_style AND is_complete
GROUP BY edition_id
