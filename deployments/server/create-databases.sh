#!/usr/bin/env bash
# Roles with their own passwords, and a database for each part; a second time it changes nothing but the passwords.
# PostgreSQL's image runs it once in a new data folder, deployments/server/host on a host.
set -euo pipefail
psql --set ON_ERROR_STOP=1 --quiet --username "$POSTGRES_USER" --dbname postgres \
    --set owner="$PROCTOR_PASSWORD" --set exam="$EXAM_PASSWORD" --set prefect="$PREFECT_PASSWORD" <<'SQL'
SELECT format('CREATE ROLE %I LOGIN', name) FROM (VALUES ('proctor'), ('proctor_exam'), ('prefect')) AS wanted (name)
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec
ALTER ROLE proctor PASSWORD :'owner';
ALTER ROLE proctor_exam PASSWORD :'exam';
ALTER ROLE prefect PASSWORD :'prefect';
-- The owner grants the exam's role what it may use, and nothing else.
GRANT proctor_exam TO proctor WITH ADMIN OPTION;
-- Whatever the host's own language is: a new host may have none, and its databases would not know text from bytes.
SELECT format('CREATE DATABASE %I OWNER %I ENCODING ''UTF8'' LOCALE ''C.UTF-8'' TEMPLATE template0', name, owner)
FROM (VALUES ('proctor', 'proctor'), ('lake', 'proctor'), ('prefect', 'prefect')) AS wanted (name, owner)
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = name) \gexec
REVOKE CONNECT ON DATABASE lake, prefect FROM PUBLIC;
SQL
