-- Which is the latest version of the bank?
-- One row per lake; 0 before the first.
SELECT coalesce(max(bank_version), 0) AS bank_version_count
FROM bank_versions
