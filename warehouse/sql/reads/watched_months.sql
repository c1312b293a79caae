-- Which months have something published?
-- One row per month, the latest first.
SELECT DISTINCT month
FROM editions
ORDER BY month DESC
