-- Which other imports may this one correct: a file of this name, of the same benchmark and models, or the same bytes under another model?
-- One row per import, the oldest first. Files of lm-evaluation-harness are named for the task alone: another model's is no namesake.
-- Parameters: $import_id, $file_name, $benchmark
SELECT import_id, min(imported_at) AS imported_at
FROM imported_marks
WHERE benchmark = $benchmark
    AND import_id <> $import_id
    AND (
        split_part(import_id, '/', 1) = split_part($import_id, '/', 1)
        OR (
            file_name = $file_name
            AND model IN (SELECT model FROM imported_marks WHERE import_id = $import_id)
        )
    )
GROUP BY import_id
ORDER BY imported_at, import_id
