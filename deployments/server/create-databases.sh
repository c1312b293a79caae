#!/usr/bin/env bash
# Run once by PostgreSQL's image in a new data folder: roles with their own passwords, and a database for each part.
set -euo pipefail
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
    --set owner="$PROCTOR_PASSWORD" --set exam="$EXAM_PASSWORD" --set prefect="$PREFECT_PASSWORD" <<'SQL'
CREATE ROLE proctor LOGIN PASSWORD :'owner';
CREATE ROLE proctor_exam LOGIN PASSWORD :'exam';
CREATE ROLE prefect LOGIN PASSWORD :'prefect';
-- The owner grants the exam's role what it may use, and nothing else.
GRANT proctor_exam TO proctor WITH ADMIN OPTION;
CREATE DATABASE proctor OWNER proctor;
CREATE DATABASE lake OWNER proctor;
CREATE DATABASE prefect OWNER prefect;
REVOKE CONNECT ON DATABASE lake, prefect FROM PUBLIC;
SQL
