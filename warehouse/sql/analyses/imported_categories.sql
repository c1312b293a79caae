-- What does each model score in the categories of an imported benchmark?
-- One row per benchmark, model, metric and category: the mean over its tasks of the mean mark of a task, and `all`, the mean over the
-- categories, of who has all of them, unless a file has a category of that name. Marks without a category are left out; marks without a task
-- are one task, those without a metric are `mark`.
-- Parameters: $benchmark (default null)
-- No rows: no marks with a category were taken in: `proctor import scores FILE --benchmark NAME --map category=COLUMN`.
WITH of_task AS (
    SELECT
        benchmark,
        model,
        coalesce(metric, 'mark') AS metric,
        category,
        task,
        avg(mark ORDER BY mark) AS score,
        count(mark) AS mark_count
    FROM imported_marks
    WHERE mark IS NOT NULL AND category IS NOT NULL AND benchmark = coalesce($benchmark::VARCHAR, benchmark)
    GROUP BY ALL
),

of_category AS (
    SELECT
        benchmark,
        model,
        metric,
        category,
        avg(score ORDER BY score) AS score,
        count(*) AS task_count,
        sum(mark_count)::BIGINT AS mark_count
    FROM of_task
    GROUP BY ALL
),

categories AS (
    SELECT benchmark, metric, count(DISTINCT category) AS category_count, bool_or(category = 'all') AS has_all
    FROM of_category
    GROUP BY benchmark, metric
)

SELECT * FROM of_category
UNION ALL
SELECT
    benchmark,
    model,
    metric,
    'all' AS category,
    avg(score ORDER BY score) AS score,
    sum(task_count)::BIGINT AS task_count,
    sum(mark_count)::BIGINT AS mark_count
FROM of_category
JOIN categories USING (benchmark, metric)
WHERE NOT categories.has_all
GROUP BY benchmark, model, metric, categories.category_count
HAVING count(*) = categories.category_count
ORDER BY benchmark, model, metric, category
