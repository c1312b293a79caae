-- What does the latest bank hold by discipline and type?
-- One row per discipline and question type of the latest published version.
SELECT discipline, question_type, count(DISTINCT lineage_uuid) AS lineage_count, count(*) AS question_count
FROM current_bank
GROUP BY ALL
ORDER BY ALL
