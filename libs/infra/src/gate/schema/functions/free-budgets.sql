-- Frees unconfirmed reservations of actions, made up to a moment; with a digest, only those of that submission.
--
-- Joins thousands of charges with the rows: with outdated statistics the planner chose a nested loop, which exceeded the
-- statement timeout, so that the same batch failed again and again.
create or replace function gate.free_budgets(in_actions text[], in_digest text, in_up_to bigint) returns bigint
language plpgsql volatile set enable_nestloop = off
as $function$
declare
  the_budgets text[] := array(select distinct r.budget from gate.budget_reservations r
                               where r.action = any(in_actions) and not r.is_confirmed);
  the_count bigint;
begin
  perform gate.lock_budgets(the_budgets);
  with gone as (
    delete from gate.budget_reservations r
     where r.action = any(in_actions) and r.budget = any(the_budgets) and not r.is_confirmed
       and (in_digest is null or r.digest = in_digest) and r.at_ms <= in_up_to
    returning r.budget, r.unit, r.at_ms, -r.amount as amount
  ), moved as (
    select gate.move_budget_counters(array_agg(g.budget), array_agg(g.unit), array_agg(g.at_ms), array_agg(g.amount))
      from gone g
  )
  select (select count(*) from gone) into the_count from moved;
  return the_count;
end
$function$;
