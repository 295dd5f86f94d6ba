/** Whoever writes into the log holds this advisory lock until its commit is visible. */
export const LOG_LOCK = 4701;

/**
 * The one way into the log (docs/adr/0003). Takes several appends, at most one of a stream:
 *
 * - `in_streams`, `in_expected`: per append, the stream and the revision it must stand at (-1: it must not exist);
 * - the next six arrays: per event, in order, the events of one append together;
 * - `in_requiring`, `in_required`, `in_required_revisions`: per requirement, the append's own stream, and another one that
 *   must stand at this revision, or the append does not fit.
 *
 * When every append fits it answers one row whose `stream` is null and whose `log_position` is the head before them.
 * Otherwise one row per append: whether its events stand in the log (written now, or by an earlier try of the same
 * append), the revision that its stream stands at or that it wrote last, and the position of its last event. One that is
 * not there although its stream stands where it must was refused for what it requires.
 *
 * The order of statements is the whole point. The lock comes first and alone; revisions and head are read by later
 * statements, whose snapshots are younger than the lock (a statement that did both would read from before it). The lock
 * ends after the commit is visible, so positions appear in order and without gaps.
 *
 * What people wait for is the case in which every append fits: one statement after the lock, because at an ordinary pace a
 * statement more costs as much as a tenth of the commit. Only where it wrote nothing are the appends looked at one by one.
 *
 * A process of the version before calls the function of this name that knows no requirements, which stays as it was.
 */
export const APPEND_FUNCTION = `
create or replace function event_store.append(
  in_streams text[], in_expected bigint[],
  in_event_streams text[], in_revisions bigint[], in_ids uuid[], in_types text[], in_data text[], in_metadata text[],
  in_requiring text[], in_required text[], in_required_revisions bigint[]
) returns table (stream text, is_recorded boolean, revision bigint, log_position bigint)
language plpgsql volatile
as $function$
#variable_conflict use_column
declare
  head bigint;
  refused text[];
  fitting text[];
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'event_store.append needs read committed: an older snapshot would not see the log'
      using errcode = 'invalid_transaction_state';
  end if;

  perform pg_advisory_xact_lock(${LOG_LOCK});

  with entered as (
    insert into event_store.events (position, stream, revision, id, type, data, metadata)
    select (select coalesce(max(e.position), -1) from event_store.events e) + n.ordinal,
           n.stream, n.revision, n.id, n.type, n.data, n.metadata
      from unnest(in_event_streams, in_revisions, in_ids, in_types, in_data, in_metadata)
           with ordinality as n (stream, revision, id, type, data, metadata, ordinal)
     where not exists (
             select from unnest(in_streams || in_required, in_expected || in_required_revisions) as asked (stream, expected)
              where asked.expected <> coalesce(
                      (select max(e.revision) from event_store.events e where e.stream = asked.stream), -1))
    returning position)
  select min(entered.position) - 1 into log_position from entered;
  if log_position is not null then
    is_recorded := true;
    return next;
    return;
  end if;

  select coalesce(max(e.position), -1) into head from event_store.events e;

  -- Each requirement is looked at once: joined to the appends, it would be looked at once for each of them.
  select coalesce(array_agg(needed.requiring), '{}') into refused
    from unnest(in_requiring, in_required, in_required_revisions) as needed (requiring, stream, revision)
   where needed.revision <> coalesce(
           (select max(e.revision) from event_store.events e where e.stream = needed.stream), -1);

  select array_agg(asked.stream) into fitting
    from unnest(in_streams, in_expected) as asked (stream, expected)
   where asked.stream <> all (refused)
     and asked.expected = coalesce(
           (select max(e.revision) from event_store.events e where e.stream = asked.stream), -1);

  insert into event_store.events (position, stream, revision, id, type, data, metadata)
  select head + row_number() over (order by n.ordinal), n.stream, n.revision, n.id, n.type, n.data, n.metadata
    from unnest(in_event_streams, in_revisions, in_ids, in_types, in_data, in_metadata)
         with ordinality as n (stream, revision, id, type, data, metadata, ordinal)
   where n.stream = any (fitting);

  return query
  with outcome as (
    select asked.stream, count(*) = count(e.position) as is_recorded,
           max(asked.revision) as last_revision, max(e.position) as last_position
      from unnest(in_event_streams, in_revisions, in_ids) as asked (stream, revision, id)
      left join event_store.events e
        on e.stream = asked.stream and e.revision = asked.revision and e.id = asked.id
     group by asked.stream)
  select o.stream, o.is_recorded,
         case when o.is_recorded then o.last_revision
              else coalesce((select max(e.revision) from event_store.events e where e.stream = o.stream), -1) end,
         o.last_position
    from outcome o;
end
$function$`;
