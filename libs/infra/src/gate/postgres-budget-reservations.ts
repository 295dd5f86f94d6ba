import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Digest } from '#libs/crypto';
import {
  BudgetReservations,
  type CountedPeriod,
  type ReservationAnswer,
  type WantedCharge,
  type WantedReservation,
} from '#libs/domain/gate';
import { DomainError, type ActionId, type EventStore, type Position } from '#libs/domain/kernel';
import { answered, bigintArray, textArray } from '#libs/infra/postgres';
import { GatheredCalls } from '#libs/infra/runtime';

interface ChargeRow {
  readonly place: string;
  readonly is_held: boolean;
  readonly is_exceeded: boolean;
  readonly period: string;
  readonly starts_ms: string;
  readonly ends_ms: string;
  readonly amount: string;
  readonly settled: string | null;
}

/** The answer while the rows are behind the log. */
const BEHIND = 'behind';
type Answer = ReservationAnswer | typeof BEHIND;

/**
 * Limits of one statement: enough callers for all that usually wait, and a limit on charges, because a policy may have
 * a hundred budgets.
 */
const TOGETHER = { maxItems: 128, maxWeight: 1_000, weightOf: ({ charges }: WantedReservation) => charges.length };

/**
 * How long a call waits for rows that are behind the log. A worker that has just started catches up within this time.
 */
const WAIT_MS = 2_000;
const WAIT_INTERVAL_MS = 50;

/** Frees reservations whenever they were made. */
const EVER_MS = Number.MAX_SAFE_INTEGER;

/** What the index `budget_reservations_in_period` is over. */
const boundOf = (row: string): string => `(${row}.unit || ' ' || ${row}.budget)`;

const USED = `
  select coalesce(
           (select k.used from gate.budget_counters k
             where k.budget = a.budget and k.unit = a.unit and k.starts_ms = a.starts_ms and k.ends_ms = a.ends_ms),
           (select sum(r.amount)::bigint from gate.budget_reservations r
             where ${boundOf('r')} = ${boundOf('a')} and r.at_ms >= a.starts_ms and r.at_ms < a.ends_ms),
           0) as used
    from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[])
         with ordinality as a (budget, unit, starts_ms, ends_ms, place)
   order by a.place`;

/**
 * Concurrent calls share one statement and its commit. A call is not charged while the rows are behind `required`: the
 * end of the log when this process first asked or, if later, the furthest position to which it has seen the rows
 * settled. So rows that went back, for example after a restore, are not used until they have caught up.
 */
export class PostgresBudgetReservations extends BudgetReservations {
  private readonly reservations: GatheredCalls<WantedReservation, Answer>;
  /** The position that the rows must have reached; null until the end of the log was read. */
  private required: Position | null = null;
  private asking: Promise<Position> | null = null;

  /** @param pool commits durably, because a reservation must survive a database crash before the append */
  constructor(
    private readonly pool: pg.Pool,
    private readonly store: EventStore,
    private readonly waitMs = WAIT_MS,
  ) {
    super();
    this.reservations = new GatheredCalls((wanted) => this.reserveAll(wanted), TOGETHER);
  }

  override async reserve(wanted: WantedReservation): Promise<ReservationAnswer> {
    await this.requirement();
    for (let waitedMs = 0; ; waitedMs += WAIT_INTERVAL_MS) {
      const answer = await this.reservations.of(wanted);
      if (answer !== BEHIND) return answer;
      if (waitedMs >= this.waitMs) throw stillBehind();
      await sleep(WAIT_INTERVAL_MS);
    }
  }

  override async free(action: ActionId, digest: Digest): Promise<void> {
    await answered(this.pool.query(`select gate.free_budgets($1, $2, $3)`, [[action], digest, EVER_MS]));
  }

  override async used(counted: readonly CountedPeriod[]): Promise<readonly number[]> {
    if (counted.length === 0) return [];
    const { rows } = await answered(
      this.pool.query<{ used: string }>({
        name: 'used-of-budgets',
        text: USED,
        values: [
          textArray(counted.map(({ budget }) => budget)),
          textArray(counted.map(({ unit }) => unit)),
          bigintArray(counted.map(({ startsMs }) => startsMs)),
          bigintArray(counted.map(({ endsMs }) => endsMs)),
        ],
      }),
    );
    return rows.map(({ used }) => Number(used));
  }

  private async requirement(): Promise<void> {
    if (this.required !== null) return;
    this.asking ??= this.store.head().finally(() => {
      this.asking = null;
    });
    const head = await this.asking;
    this.required ??= head;
  }

  private async reserveAll(wanted: readonly WantedReservation[]): Promise<readonly Answer[]> {
    const charges = wanted.flatMap(({ charges: all }, caller) => all.map((charge) => ({ caller, charge })));
    const { rows } = await answered(
      this.pool.query<ChargeRow>({
        name: 'reserve-budgets',
        text: `select * from gate.reserve_budgets($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
        values: [
          await this.store.storeId(),
          String(this.required),
          textArray(wanted.map(({ action }) => action)),
          textArray(wanted.map(({ digest }) => digest)),
          bigintArray(wanted.map(({ reservedMs }) => reservedMs)),
          bigintArray(charges.map(({ caller }) => caller + 1)),
          textArray(charges.map(({ charge }) => charge.budget)),
          textArray(charges.map(({ charge }) => charge.unit)),
          textArray(charges.map(({ charge }) => charge.period.label)),
          bigintArray(charges.map(({ charge }) => charge.period.startsMs)),
          bigintArray(charges.map(({ charge }) => charge.period.endsMs)),
          bigintArray(charges.map(({ charge }) => charge.amount)),
          bigintArray(charges.map(({ charge }) => charge.limit)),
        ],
      }),
    );
    if (rows[0]?.place === '0') return wanted.map(() => BEHIND);
    this.saw(rows[0]?.settled ?? null);
    const answers = new Map(rows.map((row) => [Number(row.place), row]));
    let place = 0;
    return wanted.map(({ charges: all }) =>
      answerOf(all.map((charge) => [charge, answers.get((place += 1))] as const)),
    );
  }

  private saw(settled: string | null): void {
    const position = settled === null ? null : BigInt(settled);
    if (position !== null && this.required !== null && position > this.required) this.required = position;
  }
}

const answerOf = (charges: readonly (readonly [WantedCharge, ChargeRow | undefined])[]): ReservationAnswer => {
  const held = charges.flatMap(([charge, row]) => (row?.is_held ? [heldCharge(charge, row)] : []));
  if (held.length === charges.length) return { isReserved: true, charges: held };
  const [exceeded] = charges.find(([, row]) => row?.is_exceeded) ?? charges.find(([, row]) => !row?.is_held) ?? [];
  return { isReserved: false, exceeded: exceeded as WantedCharge };
};

const heldCharge = (charge: WantedCharge, { period, starts_ms, ends_ms, amount }: ChargeRow): WantedCharge => ({
  ...charge,
  amount: Number(amount),
  period: { label: period, startsMs: Number(starts_ms), endsMs: Number(ends_ms) },
});

const stillBehind = (): DomainError =>
  new DomainError('service_unavailable', {
    message:
      'What calls have used of their budgets is being counted again from the log, and no call that a budget bounds runs before that. Send the same request again shortly.',
    retryAfterSeconds: 1,
  });
