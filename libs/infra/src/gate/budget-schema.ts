/**
 * The first key of the advisory locks of budgets. A transaction that writes rows of a budget holds the budget's lock,
 * so that a new counter is opened with the sum of all rows. A transaction that needs several locks takes them in one
 * order, so there is no deadlock. Two budgets whose names have the same hash share a lock, which only costs waiting
 * time.
 */
const BUDGET_LOCKS = 4703;

/**
 * A bound of a budget as one text, which is unique because no unit contains a space. The sum over a period uses an
 * index over this expression. An index over the two columns was worse: until the tables were first analyzed, the
 * planner also used it to find a call's own rows, in place of the primary key, so each reservation read all rows of its
 * budget.
 */
export const boundOf = (row: string): string => `(${row}.unit || ' ' || ${row}.budget)`;

/** The value of the counter of the row's budget, unit and period; null if there is no counter. */
const usedOf = (row: string): string =>
  `(select k.used from gate.budget_counters k where k.budget = ${row}.budget and k.unit = ${row}.unit
       and k.starts_ms = ${row}.starts_ms and k.ends_ms = ${row}.ends_ms)`;

/**
 * Plan settings of the functions below. By default the server would plan each call anew, because the arrays differ, and
 * planning took longer than the work. A plan that is kept may have been made while the tables were small, and then scan
 * a table that has grown. So lookups by key are written as subqueries, which are never turned into joins, and
 * sequential scans are disabled, so that each lookup uses the index of its key.
 */
const PLANNED_ONCE = 'set plan_cache_mode = force_generic_plan set enable_seqscan = off';

/**
 * Adds the amounts to the counters of every period that contains the row's time. After a change of the time zone, that
 * can be two periods.
 */
const MOVE_COUNTERS = `
create or replace function gate.move_budget_counters(
  in_budgets text[], in_units text[], in_ats bigint[], in_amounts bigint[]
) returns bigint
language plpgsql volatile ${PLANNED_ONCE}
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
$function$`;

const LOCK = `
create or replace function gate.lock_budgets(in_budgets text[]) returns void
language plpgsql volatile
as $function$
begin
  perform pg_advisory_xact_lock(${BUDGET_LOCKS}, keys.key)
     from (select distinct hashtext(b.budget) as key from unnest(in_budgets) as b (budget) order by 1) as keys;
end
$function$`;

/**
 * Reserves the charges of each caller, all or none. If all callers fit together, in one round; otherwise one caller
 * after the other. Returns one row per charge, in the order given, or a single row with place 0 if the rows are not
 * settled up to the log position `in_required`. A counter that does not exist yet is opened with the sum of the
 * reservations in its period, which may have been made under another period label.
 */
const RESERVE = `
create or replace function gate.reserve_budgets(
  in_store_id text, in_required bigint,
  in_actions text[], in_digests text[], in_ats bigint[],
  in_callers bigint[], in_budgets text[], in_units text[], in_periods text[], in_starts bigint[], in_ends bigint[],
  in_amounts bigint[], in_allowed bigint[]
) returns table (
  place bigint, is_held boolean, is_exceeded boolean, period text, starts_ms bigint, ends_ms bigint, amount bigint,
  settled bigint
)
language plpgsql volatile ${PLANNED_ONCE}
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
           where ${boundOf('r')} = ${boundOf('n')} and r.at_ms >= n.starts_ms and r.at_ms < n.ends_ms)
    from (select distinct c.budget, c.unit, c.starts_ms, c.ends_ms
            from unnest(in_budgets, in_units, in_starts, in_ends) as c (budget, unit, starts_ms, ends_ms)) as n
   where ${usedOf('n')} is null;

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
       where ${usedOf('n')} + n.amount > n.allowed limit 1
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
  select c.place, r.amount is not null, r.amount is null and ${usedOf('c')} + c.amount > c.allowed,
         r.period, r.starts_ms, r.ends_ms, r.amount, the_settled
    from unnest(in_callers, in_budgets, in_units, in_starts, in_ends, in_amounts, in_allowed)
         with ordinality as c (caller, budget, unit, starts_ms, ends_ms, amount, allowed, place)
    left join lateral (select * from gate.budget_reservations h
                        where h.action = in_actions[c.caller] and h.digest = in_digests[c.caller]
                          and h.budget = c.budget and h.unit = c.unit limit 1) as r on true;
end
$function$`;

/**
 * Setting for functions that join thousands of charges with the rows. With outdated statistics the planner chose a
 * nested loop, which exceeded the statement timeout, so that the same batch failed again and again.
 */
const LARGE_BATCH = 'set enable_nestloop = off';

/** Frees unconfirmed reservations of actions, made up to a moment; with a digest, only those of that submission. */
const FREE = `
create or replace function gate.free_budgets(in_actions text[], in_digest text, in_up_to bigint) returns bigint
language plpgsql volatile ${LARGE_BATCH}
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
$function$`;

/**
 * Applies a batch of events to the reservations, in this order. Charges of decided actions are confirmed; other
 * unconfirmed reservations of these actions are freed; given-back actions lose all their reservations; charges without
 * a reservation are inserted; unspent actions lose their reservations of money; the cost of spent actions replaces the
 * expected cost. The checkpoint moves in the same transaction.
 */
const SETTLE = `
create or replace function gate.settle_budgets(
  in_store_id text, in_position bigint,
  in_actions text[], in_budgets text[], in_units text[], in_periods text[], in_starts bigint[], in_ends bigint[],
  in_amounts bigint[], in_ats bigint[],
  in_given_back text[], in_unspent text[], in_spent text[], in_spent_units text[], in_spent_amounts bigint[]
) returns void
language plpgsql volatile ${LARGE_BATCH}
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
$function$`;

/**
 * Removes confirmed reservations, counters and the checkpoint, so that the fold starts again at the beginning of the
 * log. Unconfirmed reservations stay, because their appends may be under way. Counters are opened again when a
 * reservation needs them.
 */
const FORGET = `
create or replace function gate.forget_budgets() returns void
language plpgsql volatile
as $function$
begin
  lock table gate.budget_reservations in share row exclusive mode;
  delete from gate.budget_reservations where is_confirmed;
  delete from gate.budget_counters;
  delete from gate.checkpoint where name = 'budgets';
end
$function$`;

export const BUDGET_STATEMENTS = [
  `create table if not exists gate.budget_reservations (
     action text not null,
     digest text not null,
     budget text not null,
     unit text not null,
     period text not null,
     starts_ms bigint not null,
     ends_ms bigint not null,
     amount bigint not null,
     at_ms bigint not null,
     is_confirmed boolean not null default false,
     primary key (action, digest, budget, unit)
   )`,
  `drop index if exists gate.budget_reservations_by_time`,
  `create index if not exists budget_reservations_in_period on gate.budget_reservations ((${boundOf('budget_reservations')}), at_ms)`,
  `create index if not exists budget_reservations_by_end on gate.budget_reservations (ends_ms)`,
  `create index if not exists budget_reservations_unconfirmed on gate.budget_reservations (at_ms) where not is_confirmed`,
  // Each counter is the sum of the reservations whose time lies in its period, so that a reservation need not add them
  // up.
  `create table if not exists gate.budget_counters (
     budget text not null,
     unit text not null,
     starts_ms bigint not null,
     ends_ms bigint not null,
     used bigint not null,
     primary key (budget, unit, starts_ms, ends_ms)
   )`,
  LOCK,
  MOVE_COUNTERS,
  RESERVE,
  FREE,
  SETTLE,
  FORGET,
];
