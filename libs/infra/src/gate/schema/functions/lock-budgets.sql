-- The locks of budgets, whose first key is 4703. A transaction that writes rows of a budget holds the budget's lock, so
-- that a new counter is opened with the sum of all rows. A transaction that needs several locks takes them in one order,
-- so there is no deadlock. Two budgets whose names have the same hash share a lock, which only costs waiting time.
create or replace function gate.lock_budgets(in_budgets text[]) returns void
language plpgsql volatile
as $function$
begin
  perform pg_advisory_xact_lock(4703, keys.key)
     from (select distinct hashtext(b.budget) as key from unnest(in_budgets) as b (budget) order by 1) as keys;
end
$function$;
