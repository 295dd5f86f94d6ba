-- An append of events (docs/adr/0003) and the payloads that they name, in one transaction. The lock of the log is taken
-- first, as by event_store.append. Otherwise, of two appends with the same payload, one could hold the payload row and
-- wait for the lock, while the other holds the lock and waits for the row.
create or replace function gate.append(
  in_streams text[], in_expected bigint[],
  in_event_streams text[], in_revisions bigint[], in_ids uuid[], in_types text[], in_data text[], in_metadata text[],
  in_requiring text[], in_required text[], in_required_revisions bigint[],
  in_owners text[], in_kinds text[], in_digests text[], in_orgs text[], in_bodies text[], in_salts text[]
) returns table (stream text, is_recorded boolean, revision bigint, log_position bigint)
language plpgsql volatile
as $function$
begin
  perform pg_advisory_xact_lock(4701);
  perform gate.put_payloads(in_owners, in_kinds, in_digests, in_orgs, in_bodies, in_salts);
  return query select * from event_store.append(
    in_streams, in_expected, in_event_streams, in_revisions, in_ids, in_types, in_data, in_metadata,
    in_requiring, in_required, in_required_revisions);
end
$function$;
