#!/bin/sh
# Run once, when the primary's data is made: the roles, the database, and that commits wait for the standby from the next
# start on. holdfast_owner makes the tables (holdfast fleet init); holdfast_host is granted their use and nothing else.
set -eu
psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 --username=postgres --dbname=postgres \
  --set=owner="$OWNER_PASSWORD" --set=host="$HOST_PASSWORD" --set=standby="$REPLICATION_PASSWORD" <<'SQL'
create role holdfast_owner login password :'owner';
create role holdfast_host login password :'host';
create role holdfast_standby login replication password :'standby';
create database holdfast owner holdfast_owner;
revoke all on database holdfast from public;
grant connect on database holdfast to holdfast_host;
alter system set synchronous_standby_names = 'FIRST 1 (standby)';
SQL
