#!/bin/sh
# Starts the standby: the first time from a copy of the primary, whose commits wait for it under the name "standby". It
# is one until `pg_ctl promote`.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  pg_basebackup --pgdata="$PGDATA" --wal-method=stream --checkpoint=fast --write-recovery-conf \
    --dbname="$PRIMARY user=holdfast_standby application_name=standby"
  chmod 700 "$PGDATA"
  # Once it is promoted, it waits for nobody until it has a standby of its own.
  echo "synchronous_standby_names = ''" >> "$PGDATA/postgresql.auto.conf"
fi
exec "$@"
