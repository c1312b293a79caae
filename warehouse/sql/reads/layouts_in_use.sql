-- How did people divide papers, and which papers?
-- One row per corrected document, the last correction of each, oldest first.
SELECT document_id, source, marked_lines, corrected_by, corrected_at
FROM layouts
QUALIFY row_number() OVER (PARTITION BY document_id ORDER BY corrected_at DESC) = 1
ORDER BY corrected_at, document_id
