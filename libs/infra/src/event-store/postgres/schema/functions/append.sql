-- The only way to write to the log (docs/adr/0003). Takes several appends, at most one to each stream:
--
-- - `in_streams`, `in_expected`: for each append, its stream and the revision that the stream must be at (-1: it must
--   not exist);
-- - the next six arrays: for each event, in order, with the events of one append together;
-- - `in_requiring`, `in_required`, `in_required_revisions`: for each requirement, the stream of the append that has it,
--   and the other stream that must be at this revision. Otherwise the append does not fit.
--
-- If every append fits, the function returns one row whose `stream` is null and whose `log_position` is the head before
-- them. Otherwise it returns one row for each append: whether its events are in the log (written now, or by an earlier
-- try of the same append), the revision that its stream is at or that the append wrote last, and the position of its
-- last event. An append that is not recorded although its stream is at the expected revision was refused because of a
-- requirement.
--
-- The order of statements matters. The lock comes first, in a statement of its own; revisions and head are read by
-- later statements, whose snapshots are younger than the lock (a statement that did both would read from a snapshot
-- taken before the lock). The lock ends after the commit is visible, so positions appear in order and without gaps.
--
-- The usual case, in which every append fits, takes one statement after the lock, because at an ordinary pace one more
-- statement costs as much as a tenth of the commit. Only if that statement wrote nothing are the appends checked one by
-- one.
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

  -- The lock of the log: every transaction that writes to it holds this until its commit is visible.
  perform pg_advisory_xact_lock(4701);

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
$function$;
