-- Which fit of the confidence holds for what is read from now on?
-- One row per home, none where only the one that comes with the program was ever used.
SELECT confidence_version, fitted, applied_by, applied_at
FROM confidence_fits
ORDER BY applied_at DESC, confidence_version
LIMIT 1
