-- What do these pictures show, in words?
-- One row per picture of which somebody said it, with the words of the first paper by id that holds it.
-- Parameters: $sha256s
SELECT sha256, arg_min(alt_text, document_id) AS alt_text
FROM pictures
WHERE
    sha256 IN (SELECT unnest($sha256s::VARCHAR[]))
    AND alt_text <> ''
GROUP BY sha256
