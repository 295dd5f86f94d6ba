-- Adds the amounts to the counters of every period that contains the row's time. After a change of the time zone, that
-- can be two periods. Planned as gate.reserve_budgets is.
create or replace function gate.move_budget_counters(
  in_budgets text[], in_units text[], in_ats bigint[], in_amounts bigint[]
) returns bigint
language plpgsql volatile set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $function$
declare
  the_count bigint := 0;
  moved record;
begin
  for moved in
    select c.budget, c.unit, c.starts_ms, c.ends_ms, sum(m.amount)::bigint as amount
      from unnest(in_budgets, in_units, in_ats, in_amounts) as m (budget, unit, at_ms, amount)
     cross join lateral (select * from gate.budget_counters k
                          where k.budget = m.budget and k.unit = m.unit
                            and k.starts_ms <= m.at_ms and k.ends_ms > m.at_ms offset 0) as c
     group by c.budget, c.unit, c.starts_ms, c.ends_ms
  loop
    update gate.budget_counters k set used = k.used + moved.amount
     where k.budget = moved.budget and k.unit = moved.unit
       and k.starts_ms = moved.starts_ms and k.ends_ms = moved.ends_ms;
    the_count := the_count + 1;
  end loop;
  return the_count;
end
$function$;
