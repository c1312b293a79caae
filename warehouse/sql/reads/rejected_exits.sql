-- How many questions left the bank because review rejected them, after they had been in it?
-- One row per bank version that is the first without some.
SELECT until_version AS bank_version, count(*) AS exit_count
FROM bank_exits
WHERE reason = 'rejected'
GROUP BY until_version
ORDER BY until_version
