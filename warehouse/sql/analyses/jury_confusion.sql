-- Which stars does each judge of a jury give where others are deserved?
-- One row per published run, judge, version of its prompt, deserved stars and given stars, by the last state of judgements and ratings.
-- Parameters: $month (default null), $discipline (default all), $simulated (default null)
-- Shown: month, judge, deserved_stars, given_stars, chance
-- No rows: no published run was judged by two judges and then looked at: `proctor calibrate report` does so for runs that several judges of the registry judged (`proctor judge`).
SELECT c.* EXCLUDE (landing_unit)
FROM jury_confusions AS c
JOIN current_editions AS e ON e.edition_id = c.edition_id AND e.month = c.month
WHERE coalesce($simulated::BOOLEAN OR NOT c.is_simulated, e.is_shown_by_default)
    AND ($month::VARCHAR IS NULL OR c.month = $month)
    AND c.discipline = $discipline
QUALIFY rank() OVER (PARTITION BY c.edition_id ORDER BY c.computed_at DESC) = 1
ORDER BY c.month, c.edition_id, c.judge, c.prompt_version, c.deserved_stars, c.given_stars
