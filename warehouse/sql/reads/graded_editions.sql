-- Which editions are attested by more than their operator?
-- One row per edition with a grade, as it was stated last.
SELECT edition_id, grade, witness_count, beacon
FROM edition_grades
ORDER BY edition_id
