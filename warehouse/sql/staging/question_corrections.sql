-- Which questions of the bank were corrected, and since which version?
-- One row per question and revision above the first that the bank held of it. since_version is the first bank version with that revision:
-- what was asked of an earlier one was another question. A question that came back as it was is not corrected.
SELECT
    corrected.question_uuid,
    corrected.revision,
    min(corrected.from_version) AS since_version
FROM bank_contents AS corrected
SEMI JOIN bank_contents AS former
    ON former.question_uuid = corrected.question_uuid AND former.revision < corrected.revision
WHERE corrected.revision > 1
GROUP BY corrected.question_uuid, corrected.revision
