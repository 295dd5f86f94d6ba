-- Like gate.append, with companion appends (such as deeds) after the first `in_count` appends; their events come after
-- the first `in_event_count` events. The companions are written if the log ends at `in_head`, the streams of
-- `in_demanded` are at their revisions, and every append has the right revision. Otherwise only the first appends are
-- written. The last column says whether the companions were.
create or replace function gate.append_accompanied(
  in_count integer, in_event_count integer, in_head bigint, in_demanded text[], in_demanded_revisions bigint[],
  in_streams text[], in_expected bigint[],
  in_event_streams text[], in_revisions bigint[], in_ids uuid[], in_types text[], in_data text[], in_metadata text[],
  in_requiring text[], in_required text[], in_required_revisions bigint[],
  in_owners text[], in_kinds text[], in_digests text[], in_orgs text[], in_bodies text[], in_salts text[]
) returns table (stream text, is_recorded boolean, revision bigint, log_position bigint, is_accompanied boolean)
language plpgsql volatile
as $function$
#variable_conflict use_column
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'gate.append_accompanied needs read committed: an older snapshot would not see the log'
      using errcode = 'invalid_transaction_state';
  end if;

  perform pg_advisory_xact_lock(4701);
  if cardinality(in_owners) > 0 then
    perform gate.put_payloads(in_owners, in_kinds, in_digests, in_orgs, in_bodies, in_salts);
  end if;

  insert into event_store.events (position, stream, revision, id, type, data, metadata)
  select in_head + n.ordinal, n.stream, n.revision, n.id, n.type, n.data, n.metadata
    from unnest(in_event_streams, in_revisions, in_ids, in_types, in_data, in_metadata)
         with ordinality as n (stream, revision, id, type, data, metadata, ordinal)
   where in_head = (select coalesce(max(e.position), -1) from event_store.events e)
     and not exists (
           select from unnest(in_streams || in_demanded || in_required,
                              in_expected || in_demanded_revisions || in_required_revisions) as asked (stream, expected)
            where asked.expected <> coalesce(
                    (select max(e.revision) from event_store.events e where e.stream = asked.stream), -1));
  if found then
    is_recorded := true;
    log_position := in_head;
    is_accompanied := true;
    return next;
    return;
  end if;

  return query select appended.*, false from event_store.append(
    in_streams[:in_count], in_expected[:in_count], in_event_streams[:in_event_count], in_revisions[:in_event_count],
    in_ids[:in_event_count], in_types[:in_event_count], in_data[:in_event_count], in_metadata[:in_event_count],
    in_requiring, in_required, in_required_revisions) as appended;
end
$function$;
