-- Removes confirmed reservations, counters and the checkpoint, so that the fold starts again at the beginning of the
-- log. Unconfirmed reservations stay, because their appends may be under way. Counters are opened again when a
-- reservation needs them.
create or replace function gate.forget_budgets() returns void
language plpgsql volatile
as $function$
begin
  lock table gate.budget_reservations in share row exclusive mode;
  delete from gate.budget_reservations where is_confirmed;
  delete from gate.budget_counters;
  delete from gate.checkpoint where name = 'budgets';
end
$function$;
