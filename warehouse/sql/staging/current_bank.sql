-- What may be examined now?
-- One row per question of the latest published bank version.
SELECT bank.*
FROM bank
WHERE bank.bank_version = (SELECT max(bank_versions.bank_version) FROM bank_versions)
