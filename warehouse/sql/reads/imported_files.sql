-- Which files of marks and responses were imported?
-- One row per import whose id begins with $name, or whose file name or benchmark it is (null: all); the oldest first.
-- Parameters: $name (default null)
SELECT
    import_id,
    benchmark,
    import_kind,
    file_name,
    count(*) AS row_count,
    count(DISTINCT model) AS model_count,
    min(imported_at) AS imported_at
FROM imported_marks
WHERE $name::VARCHAR IS NULL OR file_name = $name OR benchmark = $name OR starts_with(import_id, $name)
GROUP BY ALL
ORDER BY imported_at, import_id
