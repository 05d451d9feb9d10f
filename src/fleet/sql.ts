// The texts of the statements. calls.ts says what each is for, and schema.ts has the tables.
// The first three parameters of a fenced statement are the home, the epoch and the id of the take.
// SQ1. A fence is a lock on the home's row: whatever else is under way for the home is over when the rest is done. In
//      READ COMMITTED, the row is then looked at as it is by now; other tables are not. So no fenced statement
//      concludes anything from rows of other tables that a transaction under way could change.

/**
 * A session is as we need it, whatever the defaults of server, database and role are: warnings are sent; a commit is on
 * disk, and on the standbys that the server waits for; and what waits for a lock gives up before we do, so that
 * abandoned sessions do not pile up.
 */
export const SESSION = `select current_setting('fsync'),
  set_config('search_path', 'pg_catalog, pg_temp', false),
  set_config('client_min_messages', 'notice', false),
  set_config('default_transaction_isolation', 'read committed', false),
  set_config('lock_timeout', '5s', false),
  case when current_setting('synchronous_commit') in ('off', 'local')
       then set_config('synchronous_commit', 'on', false) end,
  case when exists (select from pg_settings where name = 'client_connection_check_interval')
       then set_config('client_connection_check_interval', '5s', false) end`;

/** A list of privileges means any of them, so each is asked for. */
export const TABLES = ["homes", "batches", "blobs", "hosts", "events", "queue", "listings", "asks"] as const;
/** `of`: the role and a comma; the present role if it is empty. */
export const MAY = (of: string) =>
  TABLES.flatMap((table) =>
    ["select", "insert", "update", "delete"].map(
      (right) => `has_table_privilege(${of}'holdfast.${table}', '${right}')`,
    ),
  ).join(" and ");
/** `least`: the oldest program that may use the tables. Those of versions 1 and 2 do not say it. */
export const VERSION = `select version::text, (${MAY("")})::text,
  coalesce(to_jsonb(v) ->> 'least', version::text) from holdfast.version v`;

const RENEWED = (ms: string) => `lease_until = clock_timestamp() + ${ms}::float8 * interval '1 ms'`;
const OURS = "id = $1 and epoch = $2::bigint and take = $3";
/** For what changes other tables: the owner's appends go on when it is over. */
const FENCE = `fence as (select last_seq, snapshot from holdfast.homes where ${OURS} for share)`;

/** A write in any case: a home that is there may be known to this server alone, until a commit says otherwise. */
export const ENROL = `insert into holdfast.homes as h (id, epoch, take, owner, lease_until, last_seq, snapshot)
  values ($1, 0, '', '', '-infinity', $2::bigint, 0) on conflict (id) do update set owner = h.owner`;

export const LOOK = `select epoch, owner,
    case when lease_until < clock_timestamp() then 0
         else ceil(extract(epoch from lease_until - clock_timestamp()) * 1000) end::bigint, last_seq, snapshot, take, move_to
  from holdfast.homes where id = $1`;

export const TAKE = `update holdfast.homes set epoch = $2::bigint, take = $3, owner = $4, ${RENEWED("$5")}
  where id = $1 and epoch = $2::bigint - 1 and (not $6::bool or lease_until < clock_timestamp()) returning 1`;

/** What others ask of a home, until then. Unfenced: who answers them is. */
const ASKED_NOW = `home = $1 and answer = ''::bytea and until > clock_timestamp()`;

/** Says besides whether others ask something, so that nobody needs to look for it. */
export const HOLD = `update holdfast.homes set ${RENEWED("$4")} where ${OURS}
  returning last_seq, exists (select from holdfast.asks where ${ASKED_NOW})::text`;

export const APPEND = `with fence as (update holdfast.homes set last_seq = $5::bigint, ${RENEWED("$7")}
    where ${OURS} and last_seq = $4::bigint returning 1)
  insert into holdfast.batches (home, first, last, epoch, bytes)
  select $1, $4::bigint + 1, $5::bigint, $2::bigint, $6::bytea from fence returning 1`;

/** As many as fit into 8 MiB, and one at least. */
export const READ = `select first, last, bytes from (
  select first, last, bytes, sum(length(bytes)) over (order by first) as total, row_number() over (order by first) as nth
    from (select first, last, bytes from holdfast.batches
          where home = $1 and last > $2::bigint and first >= coalesce(
            (select max(first) from holdfast.batches where home = $1 and first <= $2::bigint + 1), 0)
          order by first limit 1000) as following) as sized
  where total <= 8388608 or nth = 1 order by first`;

export const SNAPSHOT = `update holdfast.homes set snapshot = $4::bigint
  where ${OURS} and snapshot <= $4::bigint and last_seq >= $4::bigint returning 1`;

/**
 * As many as fit into 1 MiB, and one at least. The last batch of the log stays as it is. What another merge has removed
 * meanwhile is not found again, so nothing is merged twice.
 */
export const MERGE = `with ${FENCE},
  sized as (select first, sum(length(bytes)) over (order by first) as total, row_number() over (order by first) as nth
    from (select b.first, b.bytes from holdfast.batches b, fence f
          where b.home = $1 and b.first > $4::bigint and b.last <= f.snapshot and b.last < f.last_seq
          order by b.first limit 500) as picked),
  old as (delete from holdfast.batches b using sized s
    where b.home = $1 and b.first = s.first and (s.total <= 1048576 or s.nth = 1)
    returning b.first, b.last, b.epoch, b.bytes)
  insert into holdfast.batches (home, first, last, epoch, bytes)
  select $1, min(first), max(last), max(epoch), string_agg(bytes, ''::bytea order by first) from old
  having count(*) > 0 returning last`;

export const PUT = `with ${FENCE}
  insert into holdfast.blobs (home, path, seq, part, parts, hash, bytes)
  select $1, $4, $5::bigint, $6::int, $7::int, $8::bytea, $9::bytea from fence
  on conflict (home, path, seq, part) do update
    set parts = excluded.parts, hash = excluded.hash, bytes = excluded.bytes returning 1`;

const WHOLE = (home: string, path: string) => `select seq from holdfast.blobs where home = ${home} and path = ${path}
    group by seq having count(*) = max(parts) order by seq desc limit 1`;

export const TIDY = `with ${FENCE} delete from holdfast.blobs
  where home = $1 and path = $4 and seq < $5::bigint and exists (select from fence) and (${WHOLE("$1", "$4")}) >= $5::bigint`;

export const GET = `select seq, part, parts, hash, bytes from holdfast.blobs
  where home = $1 and path = $2 and seq = (${WHOLE("$1", "$2")}) order by part`;

/** What is behind the snapshot. */
export const BACKLOG = `select coalesce(sum(length(b.bytes)), 0)::bigint from holdfast.homes h
  join holdfast.batches b on b.home = h.id and b.first > h.snapshot where h.id = $1`;

/** The mark is of the head of the sealed box: its key and salt (box.ts). */
export const LIST = `with stored as (
    select path, seq, count(*) = max(parts) as whole, (array_agg(hash))[1] as hash, sum(length(bytes))::bigint as size,
      (array_agg(substring(bytes from 6 for 24)) filter (where part = 0))[1] as mark
    from holdfast.blobs where home = $1 and path > $2 group by path, seq)
  select path, max(seq), coalesce(max(seq) filter (where whole), -1),
    coalesce((array_agg(hash order by seq desc) filter (where whole))[1], ''::bytea),
    coalesce((array_agg(mark order by seq desc) filter (where whole))[1], ''::bytea),
    coalesce((array_agg(size order by seq desc) filter (where whole))[1], 0)
  from stored group by path order by path limit 5000`;

export const DROP = `with ${FENCE},
  gone as (delete from holdfast.blobs where home = $1 and path = $4 and exists (select from fence) returning 1)
  select 1 from fence where (select count(*) from gone) >= 0`;

export const ANNOUNCE = `insert into holdfast.hosts (id, name, labels, capacity, version, address, takes, seen)
  values ($1, $2, $3, $4::int, $5, $6, $7, clock_timestamp())
  on conflict (id) do update set name = excluded.name, labels = excluded.labels, capacity = excluded.capacity,
    version = excluded.version, address = excluded.address, takes = excluded.takes, seen = clock_timestamp()`;

export const HOSTS = `select id, name, labels, capacity, version, address, takes,
    greatest(extract(epoch from clock_timestamp() - seen) * 1000, 0)::bigint
  from holdfast.hosts order by name, id`;

/** The end of a lease in microseconds only says whether it was renewed. Empty: it was released, or nobody had it. */
export const HOMES = `select id, name, take, epoch, owner, host,
    case when lease_until < clock_timestamp() then 0
         else ceil(extract(epoch from lease_until - clock_timestamp()) * 1000) end::bigint,
    case when lease_until = '-infinity' then ''
         else (extract(epoch from lease_until) * 1000000)::bigint::text end,
    last_seq, snapshot, takeover, move_to
  from holdfast.homes order by id`;

/** A home keeps its name, wherever it goes. */
export const DESCRIBE = `update holdfast.homes set name = case when name = '' then $4 else name end, takeover = $5,
    host = $6 where ${OURS} returning 1`;

export const RELEASE = `update holdfast.homes set lease_until = '-infinity' where ${OURS} returning 1`;

export const MOVE_TO = "update holdfast.homes set move_to = $2 where id = $1 returning 1";

export const EVENT = "insert into holdfast.events (home, host, kind, words) values ($1, $2, $3, $4)";

export const EVENTS = `select n, (extract(epoch from at) * 1000)::bigint, home, host, kind, words
  from holdfast.events where n > $1::bigint order by n limit 500`;

/** A write in any case, like ENROL: an item that is there may be known to this server alone. */
export const ENQUEUE = `insert into holdfast.queue as q (id, at, asker, kind, labels, bytes, state)
  values ($1, clock_timestamp(), $2, $3, $4, $5::bytea, 'open')
  on conflict (id) do update set asker = q.asker returning n`;

const ITEM = "q.id, q.asker, q.kind, q.bytes";
/** Of each asking home, those that are being worked on. */
const WORKED_ON = "select asker, count(*) as many from holdfast.queue where state = 'claimed' group by asker";

/**
 * One that this host can do: of the home for which the fewest are worked on, and its oldest. What another claims now is
 * passed over. The fence is a lock of the home's row, so an owner that was replaced claims nothing (SQ1).
 */
export const CLAIM = `with ${FENCE},
  next as (select q.n from holdfast.queue q left join (${WORKED_ON}) w on w.asker = q.asker
    where q.state = 'open' and string_to_array(q.labels, chr(10)) <@ string_to_array($5, chr(10))
      and exists (select from fence)
    order by coalesce(w.many, 0), q.n limit 1 for update of q skip locked)
  update holdfast.queue q set state = 'claimed', home = $1, epoch = $2::bigint, host = $4
  from next where q.n = next.n returning ${ITEM}`;

/** A write, so that what it returns counts once it is committed without a doubt: others cannot have claimed it. */
export const CLAIMED = `with ${FENCE}
  update holdfast.queue q set epoch = $2::bigint, host = $4
  where q.home = $1 and q.state = 'claimed' and exists (select from fence) returning ${ITEM}`;

export const FINISH = `with ${FENCE}
  update holdfast.queue q set state = $5, words = $6
  where q.id = $4 and q.home = $1 and q.state in ('claimed', $5) and exists (select from fence) returning 1`;

export const QUEUE = `select n, id, (extract(epoch from at) * 1000)::bigint, asker, kind, labels, state, home, host, words
  from holdfast.queue where n > $1::bigint order by n limit 500`;

export const CANCEL = `update holdfast.queue set state = 'cancelled'
  where id = $1 and state in ('open', 'cancelled') returning 1`;

/** How safe a commit is on this server, and its clock. */
export const MODE = `select current_setting('synchronous_standby_names'), current_setting('synchronous_commit'),
  (extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** Who may not see what standbys do still sees that they are there. */
export const STANDBYS = "select count(*) from pg_stat_replication";

/** A home has its name before anything is acknowledged: `[fleet] take` of other hosts names it. */
export const TAKEOVER = `update holdfast.homes set takeover = $4, name = case when name = '' then $5 else name end
  where ${OURS} returning 1`;

/** The same row again and again, so the old ones are reused. */
export const LIST_HOME = `with ${FENCE}
  insert into holdfast.listings (home, epoch, at, bytes) select $1, $2::bigint, clock_timestamp(), $4::bytea from fence
  on conflict (home) do update set epoch = excluded.epoch, at = excluded.at, bytes = excluded.bytes returning 1`;

/** Homes without a listing as well. As many as fit into 8 MiB, and one at least. */
export const LISTINGS = `select id, name, owner, host, lease, age, bytes from (
  select h.id, h.name, h.owner, h.host,
    case when h.lease_until < clock_timestamp() then 0
         else ceil(extract(epoch from h.lease_until - clock_timestamp()) * 1000) end::bigint as lease,
    case when l.at is null then -1
         else greatest(extract(epoch from clock_timestamp() - l.at) * 1000, 0) end::bigint as age,
    coalesce(l.bytes, ''::bytea) as bytes,
    sum(coalesce(length(l.bytes), 0)) over (order by h.id) as total, row_number() over (order by h.id) as nth
    from (select * from holdfast.homes where id > $1 order by id limit 1000) h
      left join holdfast.listings l on l.home = h.id) as sized
  where total <= 8388608 or nth = 1 order by id`;

/**
 * Of a home that is there. A write in any case, like ENROL; whoever repeats it waits anew. What nobody has waited for
 * since an hour is removed.
 */
export const ASK = `with old as (
    delete from holdfast.asks where id <> $1 and until < clock_timestamp() - interval '1 hour')
  insert into holdfast.asks as a (id, home, host, until, bytes)
  select $1, $2, $3, clock_timestamp() + $5::float8 * interval '1 ms', $4::bytea from holdfast.homes where id = $2
  on conflict (id) do update set until = greatest(a.until, excluded.until) returning answer`;

export const ASK_ANSWER = "select answer from holdfast.asks where id = $1";

/** Only what is answered: what is not may be under way. */
export const FORGET_ASK = "delete from holdfast.asks where id = $1 and answer <> ''::bytea";

export const ASKS = `with ${FENCE}
  select id, host, bytes from holdfast.asks where ${ASKED_NOW} and exists (select from fence) order by until limit 100`;

export const REPLY = `with ${FENCE}
  update holdfast.asks set answer = $5::bytea
  where id = $4 and home = $1 and exists (select from fence) returning 1`;
