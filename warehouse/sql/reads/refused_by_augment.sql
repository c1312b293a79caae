-- What did augmentation refuse, and by which rule?
-- One row per refused question, variant or reply and rule it broke, in order of rule and unit.
SELECT
    rule,
    unit,
    row_key,
    row_json
FROM quarantine
WHERE stage = 'augment'
ORDER BY rule, unit, row_key
