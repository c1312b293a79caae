-- What may be examined now?
-- One row per question of the latest published bank version.
WITH latest AS (
    SELECT max(bank_versions.bank_version) AS bank_version
    FROM bank_versions
)

SELECT
    (SELECT latest.bank_version FROM latest) AS bank_version,
    bank_entries.* EXCLUDE (from_version, until_version, exit_reason)
FROM bank_entries
WHERE
    bank_entries.from_version <= (SELECT latest.bank_version FROM latest)
    AND (bank_entries.until_version IS NULL OR bank_entries.until_version > (SELECT latest.bank_version FROM latest))
