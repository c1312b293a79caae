-- What may be examined in each version of the bank?
-- One row per question and bank version.
SELECT
    bank_versions.bank_version,
    bank_entries.* EXCLUDE (from_version, until_version, exit_reason)
FROM bank_versions
INNER JOIN bank_entries
    ON
        bank_entries.from_version <= bank_versions.bank_version
        AND bank_versions.bank_version < coalesce(bank_entries.until_version, bank_versions.bank_version + 1)
