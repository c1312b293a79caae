-- Which versions of the bank were published?
-- One row per published version, oldest first.
SELECT * EXCLUDE (landing_unit)
FROM bank_versions
ORDER BY bank_version
