-- Which files without questions came with a folder? The keys of its papers are among them.
-- One row per document without questions whose path is in $folder.
-- Parameters: $folder
SELECT document_name, sha256
FROM documents
WHERE status = 'no_questions' AND starts_with(source_path, $folder || '/')
ORDER BY document_name
