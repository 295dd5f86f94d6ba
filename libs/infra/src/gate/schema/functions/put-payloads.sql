-- Stores payloads, and the roots of their salts. What is there already stays as it is.
create or replace function gate.put_payloads(
  in_owners text[], in_kinds text[], in_digests text[], in_orgs text[], in_bodies text[], in_salts text[]
) returns void
language plpgsql volatile
as $function$
begin
  insert into gate.payloads (owner, kind, digest, org, body)
    select * from unnest(in_owners, in_kinds, in_digests, in_orgs, in_bodies) on conflict do nothing;
  insert into gate.payload_salts (owner, kind, digest, salt)
    select * from unnest(in_owners, in_kinds, in_digests, in_salts) as n (owner, kind, digest, salt)
     where n.salt is not null on conflict do nothing;
end
$function$;
