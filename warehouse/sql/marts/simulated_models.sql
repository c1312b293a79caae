-- Which models are simulations?
-- One row per model that took part as one: a candidate of a run, a judge that was given control answers, a writer of variants, or a
-- candidate of a league.
SELECT model FROM models WHERE is_simulated
UNION
SELECT judge FROM judge_controls WHERE is_simulated
UNION
SELECT generator FROM variant_batches WHERE is_simulated
UNION
SELECT c.model FROM league_candidates AS c SEMI JOIN leagues AS l ON l.league_id = c.league_id AND l.is_simulated
