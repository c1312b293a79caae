-- Where does each judge agree with people, and towards whom is it generous?
-- One row per judge, version of its prompt, occasion, round and group of rated responses; round 0 is all rounds. bias is the
-- judge's mean stars less the raters' mean, with its 95% interval: is_biased where that leaves out 0.
-- Parameters: $occasion (default null), $kind (default null), $round (default 0)
-- Shown: judge, group_kind, group_name, pair_count, agreement_rate, bias, is_biased, kappa_none
-- No rows: no judge was compared with people: `proctor calibrate draw RUN --raters …`, stars by people, then `proctor calibrate report`.
SELECT
    * EXCLUDE (landing_unit),
    coalesce(bias_low > 0 OR bias_high < 0, false) AS is_biased,
    coalesce(
        (SELECT bool_and(p.is_simulated) FROM calibration_pairs AS p WHERE p.occasion = c.occasion AND p.judge = c.judge),
        false
    ) AS is_simulated
FROM calibration_groups AS c
WHERE occasion = coalesce($occasion::VARCHAR, occasion)
    AND group_kind = coalesce($kind::VARCHAR, group_kind)
    AND round = $round
ORDER BY occasion, judge, prompt_version, round, group_kind, group_name
