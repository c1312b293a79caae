-- Which batches of variants that a model wrote wait for the review of their sample?
-- One row per batch that is held back, without the unit it was landed with, in order of name.
SELECT * EXCLUDE (landing_unit)
FROM variant_batches
WHERE status = 'held'
ORDER BY variant_batch_id
