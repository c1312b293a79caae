-- Which pictures does this document hold, those that annotators made of it included?
-- One row per picture.
-- Parameters: $document_id
SELECT sha256, perceptual_hash, alt_text, landing_unit
FROM pictures
WHERE document_id = $document_id
ORDER BY sha256
