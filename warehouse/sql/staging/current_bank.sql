-- What may be examined now?
-- One row per question of the latest published bank version.
-- The version is joined, not asked for by a CTE: beside one that is used twice DuckDB reads every column of the bank.
SELECT
    latest.bank_version,
    bank_entries.* EXCLUDE (from_version, until_version, exit_reason)
FROM bank_entries
CROSS JOIN (SELECT max(bank_versions.bank_version) AS bank_version FROM bank_versions) AS latest
WHERE
    bank_entries.from_version <= latest.bank_version
    AND (bank_entries.until_version IS NULL OR bank_entries.until_version > latest.bank_version)
