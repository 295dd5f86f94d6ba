-- Applies a batch of events to the reservations, in this order. Charges of decided actions are confirmed; other
-- unconfirmed reservations of these actions are freed; given-back actions lose all their reservations; charges without a
-- reservation are inserted; unspent actions lose their reservations of money; the cost of spent actions replaces the
-- expected cost. The checkpoint moves in the same transaction. Without nested loops, as gate.free_budgets is.
create or replace function gate.settle_budgets(
  in_store_id text, in_position bigint,
  in_actions text[], in_budgets text[], in_units text[], in_periods text[], in_starts bigint[], in_ends bigint[],
  in_amounts bigint[], in_ats bigint[],
  in_given_back text[], in_unspent text[], in_spent text[], in_spent_units text[], in_spent_amounts bigint[]
) returns void
language plpgsql volatile set enable_nestloop = off
as $function$
declare
  the_budgets text[] := array(
    select b.budget from unnest(in_budgets) as b (budget)
    union
    select r.budget from gate.budget_reservations r
     where r.action = any(in_actions || in_given_back || in_unspent || in_spent));
  the_count bigint;
begin
  perform gate.lock_budgets(the_budgets);

  -- The row gets the time of the decision, which is later than that of the reservation if the submission was retried.
  with confirmed as (
    update gate.budget_reservations r set is_confirmed = true, at_ms = named.at_ms
      from (select distinct on (h.action, h.budget, h.unit)
                   h.action, h.digest, h.budget, h.unit, n.at_ms, h.at_ms as reserved_ms
              from unnest(in_actions, in_budgets, in_units, in_starts, in_ends, in_amounts, in_ats)
                   as n (action, budget, unit, starts_ms, ends_ms, amount, at_ms)
              join gate.budget_reservations h
                on h.action = n.action and h.budget = n.budget and h.unit = n.unit
               and h.starts_ms = n.starts_ms and h.ends_ms = n.ends_ms and h.amount = n.amount
             order by h.action, h.budget, h.unit, not h.is_confirmed, h.digest) as named
     where r.action = named.action and r.digest = named.digest and r.budget = named.budget and r.unit = named.unit
       and not r.is_confirmed
    returning r.budget, r.unit, r.at_ms, named.reserved_ms, r.amount
  ), moments as (
    select c.budget, c.unit, c.reserved_ms as at_ms, -c.amount as amount from confirmed c where c.reserved_ms <> c.at_ms
    union all
    select c.budget, c.unit, c.at_ms, c.amount from confirmed c where c.reserved_ms <> c.at_ms
  )
  select gate.move_budget_counters(array_agg(m.budget), array_agg(m.unit), array_agg(m.at_ms), array_agg(m.amount))
    into the_count from moments m;

  with gone as (
    delete from gate.budget_reservations r
     where r.budget = any(the_budgets)
       and (r.action = any(in_actions) and not r.is_confirmed or r.action = any(in_given_back))
    returning r.budget, r.unit, r.at_ms, -r.amount as amount
  )
  select gate.move_budget_counters(array_agg(g.budget), array_agg(g.unit), array_agg(g.at_ms), array_agg(g.amount))
    into the_count from gone g;

  with made as (
    insert into gate.budget_reservations as r
           (action, digest, budget, unit, period, starts_ms, ends_ms, amount, at_ms, is_confirmed)
    select n.action, '', n.budget, n.unit, n.period, n.starts_ms, n.ends_ms, n.amount, n.at_ms, true
      from unnest(in_actions, in_budgets, in_units, in_periods, in_starts, in_ends, in_amounts, in_ats)
           as n (action, budget, unit, period, starts_ms, ends_ms, amount, at_ms)
     where not exists (select from gate.budget_reservations h
                        where h.action = n.action and h.budget = n.budget and h.unit = n.unit)
    on conflict do nothing
    returning r.budget, r.unit, r.at_ms, r.amount
  )
  select gate.move_budget_counters(array_agg(m.budget), array_agg(m.unit), array_agg(m.at_ms), array_agg(m.amount))
    into the_count from made m;

  with gone as (
    delete from gate.budget_reservations r
     where r.budget = any(the_budgets) and r.action = any(in_unspent) and r.unit <> 'calls'
    returning r.budget, r.unit, r.at_ms, -r.amount as amount
  )
  select gate.move_budget_counters(array_agg(g.budget), array_agg(g.unit), array_agg(g.at_ms), array_agg(g.amount))
    into the_count from gone g;

  with changed as (
    update gate.budget_reservations r set amount = s.amount
      from (select h.action, h.digest, h.budget, h.unit, n.amount, n.amount - h.amount as more
              from unnest(in_spent, in_spent_units, in_spent_amounts) as n (action, unit, amount)
              join gate.budget_reservations h on h.action = n.action and h.unit = n.unit) as s
     where r.budget = any(the_budgets)
       and r.action = s.action and r.digest = s.digest and r.budget = s.budget and r.unit = s.unit
    returning r.budget, r.unit, r.at_ms, s.more
  )
  select gate.move_budget_counters(array_agg(c.budget), array_agg(c.unit), array_agg(c.at_ms), array_agg(c.more))
    into the_count from changed c;

  insert into gate.checkpoint as k (name, store_id, position) values ('budgets', in_store_id, in_position)
  on conflict (name) do update set store_id = excluded.store_id, position = excluded.position;
end
$function$;
