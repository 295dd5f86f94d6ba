-- Reserves the charges of each caller, all or none. If all callers fit together, in one round; otherwise one caller
-- after the other. Returns one row per charge, in the order given, or a single row with place 0 if the rows are not
-- settled up to the log position `in_required`. A counter that does not exist yet is opened with the sum of the
-- reservations in its period, which may have been made under another period label.
--
-- By default the server would plan each call anew, because the arrays differ, and planning took longer than the work. A
-- plan that is kept may have been made while the tables were small, and then scan a table that has grown. So lookups by
-- key are written as subqueries, which are never turned into joins, and sequential scans are disabled, so that each
-- lookup uses the index of its key. Unit and budget are compared as the one text that the index is over.
create or replace function gate.reserve_budgets(
  in_store_id text, in_required bigint,
  in_actions text[], in_digests text[], in_ats bigint[],
  in_callers bigint[], in_budgets text[], in_units text[], in_periods text[], in_starts bigint[], in_ends bigint[],
  in_amounts bigint[], in_allowed bigint[]
) returns table (
  place bigint, is_held boolean, is_exceeded boolean, period text, starts_ms bigint, ends_ms bigint, amount bigint,
  settled bigint
)
language plpgsql volatile set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $function$
#variable_conflict use_column
declare
  the_settled bigint;
  the_round bigint := 0;
  is_too_much boolean;
begin
  -- Conflicts with the lock of forget_budgets, so that neither runs while the other does.
  lock table gate.budget_reservations in row exclusive mode;
  perform gate.lock_budgets(in_budgets);
  select c.position into the_settled from gate.checkpoint c where c.name = 'budgets' and c.store_id = in_store_id;
  if coalesce(the_settled, -1) < in_required then
    return query select 0::bigint, false, false, null::text, null::bigint, null::bigint, null::bigint, the_settled;
    return;
  end if;

  insert into gate.budget_counters (budget, unit, starts_ms, ends_ms, used)
  select n.budget, n.unit, n.starts_ms, n.ends_ms,
         (select coalesce(sum(r.amount), 0)::bigint from gate.budget_reservations r
           where (r.unit || ' ' || r.budget) = (n.unit || ' ' || n.budget)
             and r.at_ms >= n.starts_ms and r.at_ms < n.ends_ms)
    from (select distinct c.budget, c.unit, c.starts_ms, c.ends_ms
            from unnest(in_budgets, in_units, in_starts, in_ends) as c (budget, unit, starts_ms, ends_ms)) as n
   where (select k.used from gate.budget_counters k
            where k.budget = n.budget and k.unit = n.unit
              and k.starts_ms = n.starts_ms and k.ends_ms = n.ends_ms) is null;

  loop
    with wanted as materialized (
      select distinct on (in_actions[c.caller], in_digests[c.caller], c.budget, c.unit)
             in_actions[c.caller] as action, in_digests[c.caller] as digest, in_ats[c.caller] as at_ms,
             c.budget, c.unit, c.period, c.starts_ms, c.ends_ms, c.amount, c.allowed
        from unnest(in_callers, in_budgets, in_units, in_periods, in_starts, in_ends, in_amounts, in_allowed)
             with ordinality as c (caller, budget, unit, period, starts_ms, ends_ms, amount, allowed, place)
       where the_round in (0, c.caller)
         and (select r.amount from gate.budget_reservations r
               where r.action = in_actions[c.caller] and r.digest = in_digests[c.caller]
                 and r.budget = c.budget and r.unit = c.unit) is null
       order by in_actions[c.caller], in_digests[c.caller], c.budget, c.unit, c.place
    ), too_much as materialized (
      select 1 from (select w.budget, w.unit, w.starts_ms, w.ends_ms, sum(w.amount) as amount, min(w.allowed) as allowed
                       from wanted w group by w.budget, w.unit, w.starts_ms, w.ends_ms) as n
       where (select k.used from gate.budget_counters k
                where k.budget = n.budget and k.unit = n.unit
                  and k.starts_ms = n.starts_ms and k.ends_ms = n.ends_ms)
             + n.amount > n.allowed limit 1
    ), made as (
      insert into gate.budget_reservations
             (action, digest, budget, unit, period, starts_ms, ends_ms, amount, at_ms)
      select w.action, w.digest, w.budget, w.unit, w.period, w.starts_ms, w.ends_ms, w.amount, w.at_ms
        from wanted w where not exists (select from too_much)
      returning budget, unit, at_ms, amount
    ), moved as (
      select gate.move_budget_counters(array_agg(m.budget), array_agg(m.unit), array_agg(m.at_ms), array_agg(m.amount))
        from made m
    )
    select exists (select from too_much) into is_too_much from moved;
    exit when the_round = 0 and not is_too_much;
    the_round := the_round + 1;
    exit when the_round > cardinality(in_actions);
  end loop;

  return query
  select c.place, r.amount is not null,
         r.amount is null
         and (select k.used from gate.budget_counters k
               where k.budget = c.budget and k.unit = c.unit
                 and k.starts_ms = c.starts_ms and k.ends_ms = c.ends_ms)
             + c.amount > c.allowed,
         r.period, r.starts_ms, r.ends_ms, r.amount, the_settled
    from unnest(in_callers, in_budgets, in_units, in_starts, in_ends, in_amounts, in_allowed)
         with ordinality as c (caller, budget, unit, starts_ms, ends_ms, amount, allowed, place)
    left join lateral (select * from gate.budget_reservations h
                        where h.action = in_actions[c.caller] and h.digest = in_digests[c.caller]
                          and h.budget = c.budget and h.unit = c.unit limit 1) as r on true;
end
$function$;
