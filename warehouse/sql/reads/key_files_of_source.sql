-- Which files without questions came with a folder?
-- One row per document without questions whose path is in $folder: the keys of its papers are among them.
-- Parameters: $folder
SELECT document_name, sha256
FROM documents
WHERE status = 'no_questions' AND starts_with(source_path, $folder || '/')
ORDER BY document_name
