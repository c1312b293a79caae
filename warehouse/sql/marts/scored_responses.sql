-- How many stars is every allocated question worth by the run's primary judge?
-- One row per allocation of a run that has judgements. stars is null where score_status is unparsed or unjudged, never 0.
-- Where the primary judge's output could not be read, counted_judge says whose stars count (judged_allocations).
SELECT ja.*, p.is_provisional
FROM judged_allocations AS ja
JOIN primary_judge AS p ON p.month = ja.month AND p.run_id = ja.run_id AND p.judge = ja.judge
