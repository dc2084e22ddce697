#!/bin/sh
# Runs once, when PostgreSQL of compose.postgres.yaml creates its data: the role and the database of the instances. The role is not
# the superuser that the image creates, which bypasses row-level security.
psql -v ON_ERROR_STOP=1 -U postgres -v password="$(cat /run/secrets/postgres-password)" <<'SQL'
CREATE ROLE rockpool LOGIN PASSWORD :'password';
CREATE DATABASE rockpool OWNER rockpool ENCODING 'UTF8' TEMPLATE template0;
SQL
