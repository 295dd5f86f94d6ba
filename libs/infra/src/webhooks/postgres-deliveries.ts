import { epochMsOf, type EventId, type OrgId, type WebhookId } from '#libs/domain/kernel';
import {
  type AttemptOutcome,
  attemptsOf,
  type ClaimedDelivery,
  claimEndMs,
  claimsOf,
  type ClaimTerms,
  Deliveries,
  type Delivery,
  type DeliveryPage,
  type DeliveryStep,
  IN_FLIGHT_MAX,
  type OpenDelivery,
  type OutgoingEvent,
  stepAfter,
  TEST_EVENT_TYPE,
} from '#libs/domain/webhooks';
import type pg from 'pg';
import { absentOf } from '../leases/index.js';
import { answered, inTransaction, type Transaction } from '../postgres/index.js';
import { DELIVERY_COLUMNS, type DeliveryRow, deliveryOf } from './delivery-row.js';

/** Those under way, and so many of those that are due as could be taken up. */
const TO_TAKE_UP = `
  with due as (
    select event, org, type, body, traceparent, status, attempt, due_ms, is_second_try from webhooks.deliveries
     where webhook = $1 and status in ('pending', 'retrying') and due_ms <= $2
     order by due_ms, created_ms, event limit $3 for update skip locked)
  select * from (
    select event, org, type, body, traceparent, status, attempt, due_ms, is_second_try from webhooks.deliveries
     where webhook = $1 and status = 'delivering'
    union all
    select * from due) open
  order by due_ms, event`;
const OPEN = `status in ('pending', 'delivering', 'retrying')`;
/** A look at the first one of each endpoint, however many wait behind it. */
const DUE_ENDPOINTS = `
  select e.webhook from webhooks.endpoints e
    cross join lateral (select d.due_ms from webhooks.deliveries d
                         where d.webhook = e.webhook and d.${OPEN} and d.due_ms <= $1 order by d.due_ms limit 1) first
   order by first.due_ms limit $2`;
/** At once; each statement stays short. */
const PORTION_ROWS = 5_000;

/** Rows of `webhooks.deliveries`. Give it a durable pool: an attempt that was counted stays counted. */
export class PostgresDeliveries extends Deliveries {
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async claim(webhook: WebhookId, terms: ClaimTerms): Promise<readonly ClaimedDelivery[]> {
    return inTransaction(this.pool, async (query) => {
      await lockEndpoint(query, webhook);
      const { rows } = await query<OpenRow>(TO_TAKE_UP, [webhook, terms.nowMs, terms.limit]);
      const open = new Map(rows.map((row) => [row.event, row]));
      const claimed: ClaimedDelivery[] = [];
      for (const claim of claimsOf(rows.map(openOf), terms.nowMs, IN_FLIGHT_MAX)) {
        const row = open.get(claim.event) as OpenRow;
        if (claim.what === 'fail') await failSilently(query, webhook, row, terms);
        else if (claimed.length < terms.limit) claimed.push(await take(query, webhook, row, claim, terms));
      }
      return claimed;
    });
  }

  override async isClaimed({ webhook, event, claim }: ClaimedDelivery): Promise<boolean> {
    const { rowCount } = await answered(
      this.pool.query(
        `select from webhooks.deliveries where webhook = $1 and event = $2 and claim = $3 and status = 'delivering'`,
        [webhook, event, claim],
      ),
    );
    return rowCount === 1;
  }

  override async failingSince(webhooks: readonly WebhookId[]): Promise<ReadonlyMap<WebhookId, number>> {
    const { rows } = await answered(
      this.pool.query<{ webhook: WebhookId; failing_since_ms: string }>(
        `select webhook, failing_since_ms from webhooks.endpoints
          where webhook = any($1::text[]) and failing_since_ms is not null`,
        [webhooks],
      ),
    );
    return new Map(rows.map((row) => [row.webhook, Number(row.failing_since_ms)]));
  }

  override async waitingSince(webhooks: readonly WebhookId[]): Promise<ReadonlyMap<WebhookId, number>> {
    const { rows } = await answered(
      this.pool.query<{ webhook: WebhookId; due_ms: string }>(
        `select asked.webhook, first.due_ms from unnest($1::text[]) as asked (webhook)
          cross join lateral (select due_ms from webhooks.deliveries d
                               where d.webhook = asked.webhook and d.status = 'pending'
                               order by d.due_ms limit 1) first`,
        [webhooks],
      ),
    );
    return new Map(rows.map((row) => [row.webhook, Number(row.due_ms)]));
  }

  override async settle(
    { webhook, event, type, claim }: ClaimedDelivery,
    outcome: AttemptOutcome,
    step: DeliveryStep,
    { nowMs, aimedAtMs }: { readonly nowMs: number; readonly aimedAtMs: number },
  ): Promise<void> {
    const errorCode = outcome.isDelivered ? null : outcome.errorCode;
    const dueMs = step.status === 'retrying' ? step.dueMs : nowMs;
    const endedMs = step.status === 'retrying' ? null : nowMs;
    const values = [webhook, event, step.status, dueMs, endedMs, outcome.httpStatus, errorCode];
    await inTransaction(this.pool, async (query) => {
      await lockEndpoint(query, webhook);
      // Whoever has seen the event arrive says so, also where somebody else has taken the delivery up since.
      const { rowCount } = await query(
        `update webhooks.deliveries set status = $3, due_ms = $4, ended_ms = $5, http_status = $6, error_code = $7,
            claim = null, is_second_try = false
          where webhook = $1 and event = $2
            and ((status = 'delivering' and claim = $8) or ($9::boolean and ${OPEN}))`,
        [...values, claim, outcome.isDelivered],
      );
      if (rowCount !== 1) return;
      if (outcome.isDelivered) await succeeded(query, webhook);
      else if (type !== TEST_EVENT_TYPE) await failed(query, webhook, nowMs, aimedAtMs);
    });
  }

  override async giveBack({ webhook, event, claim }: ClaimedDelivery, dueMs: number): Promise<void> {
    // One that was taken up again keeps its number: the process that fell silent may have sent it.
    await answered(
      this.pool.query(
        `update webhooks.deliveries set
            status = case when is_second_try then 'delivering' when attempt <= 1 then 'pending' else 'retrying' end,
            attempt = case when is_second_try then attempt else attempt - 1 end,
            due_ms = $4, claim = null, is_second_try = false
          where webhook = $1 and event = $2 and claim = $3 and status = 'delivering'`,
        [webhook, event, claim, dueMs],
      ),
    );
  }

  override async cancelOpen(webhook: WebhookId, delivery: ClaimedDelivery | null): Promise<void> {
    await answered(
      this.pool.query(
        `update webhooks.deliveries
            set status = 'cancelled', claim = null, ended_ms = (extract(epoch from clock_timestamp()) * 1000)::bigint
          where webhook = $1
            and (status in ('pending', 'retrying') or (status = 'delivering' and event = $2 and claim = $3))`,
        [webhook, delivery?.event ?? null, delivery?.claim ?? null],
      ),
    );
  }

  override async absentClaimers(nowMs: number): Promise<readonly string[]> {
    const { rows } = await answered(
      this.pool.query<{ claimer: string }>(
        `select distinct claimer from webhooks.deliveries
          where status = 'delivering' and claimer is not null and due_ms > $1`,
        [nowMs],
      ),
    );
    if (rows.length === 0) return [];
    return absentOf(
      this.pool,
      rows.map(({ claimer }) => claimer),
    );
  }

  override async endClaimsOf(claimer: string, nowMs: number): Promise<readonly WebhookId[]> {
    const { rows } = await answered(
      this.pool.query<{ webhook: WebhookId }>(
        `update webhooks.deliveries set due_ms = $2
          where status = 'delivering' and claimer = $1 and due_ms > $2 returning webhook`,
        [claimer, nowMs],
      ),
    );
    return [...new Set(rows.map(({ webhook }) => webhook))];
  }

  override async dueEndpoints(nowMs: number, limit: number): Promise<readonly WebhookId[]> {
    const { rows } = await answered(this.pool.query<{ webhook: WebhookId }>(DUE_ENDPOINTS, [nowMs, limit]));
    return rows.map(({ webhook }) => webhook);
  }

  override async page(
    webhook: WebhookId,
    { limit, after, statuses }: DeliveryPage,
  ): Promise<{ readonly rows: readonly Delivery[]; readonly hasMore: boolean }> {
    const { rows } = await answered(
      this.pool.query<DeliveryRow>(
        `select ${DELIVERY_COLUMNS} from webhooks.deliveries
          where webhook = $1 and ($2::bigint is null or (created_ms, event) < ($2, $3))
            and ($5::text[] is null or status = any($5))
          order by created_ms desc, event desc limit $4`,
        [webhook, after === null ? null : epochMsOf(after.createdAt), after?.id ?? null, limit + 1, statuses],
      ),
    );
    return { rows: rows.slice(0, limit).map(deliveryOf), hasMore: rows.length > limit };
  }

  override async find(webhook: WebhookId, event: EventId): Promise<Delivery | null> {
    const { rows } = await answered(
      this.pool.query<DeliveryRow>(
        `select ${DELIVERY_COLUMNS} from webhooks.deliveries where webhook = $1 and event = $2`,
        [webhook, event],
      ),
    );
    return rows[0] === undefined ? null : deliveryOf(rows[0]);
  }

  override async sendAgain(webhook: WebhookId, event: EventId, nowMs: number): Promise<Delivery | null> {
    await answered(
      this.pool.query(
        `update webhooks.deliveries set
            status = case when status = 'retrying' then status else 'pending' end,
            attempt = case when status = 'retrying' then attempt else 0 end,
            due_ms = $3, ended_ms = null, claim = null, is_second_try = false
          where webhook = $1 and event = $2 and status in ('retrying', 'delivered', 'dead', 'cancelled')`,
        [webhook, event, nowMs],
      ),
    );
    return this.find(webhook, event);
  }

  override async addClaimed(
    webhook: WebhookId,
    event: OutgoingEvent,
    { nowMs, timeoutMs, claimer, token }: ClaimTerms,
  ): Promise<ClaimedDelivery | null> {
    return inTransaction(this.pool, async (query) => {
      await lockEndpoint(query, webhook);
      const { rows } = await query<{ under_way: number }>(
        `select count(*)::int as under_way from webhooks.deliveries
          where webhook = $1 and status = 'delivering' and due_ms > $2`,
        [webhook, nowMs],
      );
      if ((rows[0]?.under_way ?? 0) >= IN_FLIGHT_MAX) return null;
      const claim = token();
      const values = valuesOf(webhook, event, nowMs);
      const end = claimEndMs(nowMs, timeoutMs);
      const { rowCount } = await query(INSERT, [...values, 'delivering', 1, claim, end, claimer]);
      const { id, org, type, body, traceparent } = event;
      return rowCount === 1 ? { webhook, org, event: id, type, body, traceparent, attempt: 1, claim } : null;
    });
  }

  override async endStale(dueBeforeMs: number, nowMs: number): Promise<number> {
    return this.inPortions(
      `update webhooks.deliveries set status = 'dead', ended_ms = $2 where status = 'pending' and (webhook, event) in
        (select webhook, event from webhooks.deliveries where status = 'pending' and due_ms < $1
          limit ${PORTION_ROWS} for update skip locked)`,
      [dueBeforeMs, nowMs],
    );
  }

  override async removeEnded(beforeMs: number): Promise<number> {
    return this.inPortions(
      `delete from webhooks.deliveries where (webhook, event) in
        (select webhook, event from webhooks.deliveries where ended_ms < $1 limit ${PORTION_ROWS})`,
      [beforeMs],
    );
  }

  /** Until a statement finds less than a portion. @returns rows in all */
  private async inPortions(statement: string, values: readonly unknown[]): Promise<number> {
    for (let done = 0; ;) {
      const { rowCount } = await answered(this.pool.query(statement, [...values]));
      done += rowCount ?? 0;
      if ((rowCount ?? 0) < PORTION_ROWS) return done;
    }
  }
}

const INSERT = `insert into webhooks.deliveries
    (webhook, event, org, type, body, traceparent, created_ms, status, attempt, claim, due_ms, claimer)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict do nothing`;

const valuesOf = (webhook: WebhookId, event: OutgoingEvent, nowMs: number): unknown[] => [
  webhook,
  event.id,
  event.org,
  event.type,
  event.body,
  event.traceparent,
  nowMs,
];

interface OpenRow {
  readonly event: EventId;
  readonly org: OrgId;
  readonly type: string;
  readonly body: string;
  readonly traceparent: string | null;
  readonly status: OpenDelivery['status'];
  readonly attempt: number;
  readonly due_ms: string;
  readonly is_second_try: boolean;
}

const openOf = ({ event, type, status, attempt, due_ms, is_second_try }: OpenRow): OpenDelivery => ({
  event,
  type,
  status,
  attempt,
  dueMs: Number(due_ms),
  isSecondTry: is_second_try,
});

/** Two that claim of one endpoint do so one after the other, in all processes: each counts what the other has begun. */
const lockEndpoint = async (query: Transaction, webhook: WebhookId): Promise<void> => {
  const lock = `select from webhooks.endpoints where webhook = $1 for update`;
  if ((await query(lock, [webhook])).rowCount === 1) return;
  await query(`insert into webhooks.endpoints (webhook) values ($1) on conflict do nothing`, [webhook]);
  await query(lock, [webhook]);
};

const take = async (
  query: Transaction,
  webhook: WebhookId,
  { event, org, type, body, traceparent }: OpenRow,
  { attempt, isSecondTry }: { readonly attempt: number; readonly isSecondTry: boolean },
  { nowMs, timeoutMs, claimer, token }: ClaimTerms,
): Promise<ClaimedDelivery> => {
  const claim = token();
  await query(
    `update webhooks.deliveries
        set status = 'delivering', attempt = $3, is_second_try = $4, claim = $5, due_ms = $6, claimer = $7
      where webhook = $1 and event = $2`,
    [webhook, event, attempt, isSecondTry, claim, claimEndMs(nowMs, timeoutMs), claimer],
  );
  return { webhook, org, event, type, body, traceparent, attempt, claim };
};

/** Nobody knows what the receiver said: as an answer that did not come. */
const failSilently = async (
  query: Transaction,
  webhook: WebhookId,
  { event, type, attempt }: OpenRow,
  { nowMs, maxAttempts, chance }: ClaimTerms,
): Promise<void> => {
  const attemptsMax = attemptsOf(type, maxAttempts);
  const step = stepAfter({ isDelivered: false }, { attempt, attemptsMax }, { nowMs, chance: chance() });
  await query(
    `update webhooks.deliveries set status = $3, due_ms = $4, ended_ms = $5, http_status = null, error_code = 'timeout',
        claim = null, is_second_try = false
      where webhook = $1 and event = $2`,
    [
      webhook,
      event,
      step.status,
      step.status === 'retrying' ? step.dueMs : nowMs,
      step.status === 'retrying' ? null : nowMs,
    ],
  );
};

const succeeded = (query: Transaction, webhook: WebhookId) =>
  query(`update webhooks.endpoints set failing_since_ms = null where webhook = $1`, [webhook]);

const failed = (query: Transaction, webhook: WebhookId, nowMs: number, aimedAtMs: number) =>
  query(
    `update webhooks.endpoints set failing_since_ms = $2
      where webhook = $1 and (failing_since_ms is null or failing_since_ms < $3)`,
    [webhook, nowMs, aimedAtMs],
  );
