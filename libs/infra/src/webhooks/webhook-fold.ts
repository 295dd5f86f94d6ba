import type { PublicEvent } from '#libs/domain/events';
import { type Clock, type EventStore, failpoint, type Position, START, type WebhookId } from '#libs/domain/kernel';
import { EndpointsAsOf, type OutgoingEvent, receiversOf } from '#libs/domain/webhooks';
import type { LeaseSession } from '../leases/index.js';
import { answered } from '../postgres/index.js';
import { PUBLIC_EVENT_DAYS } from '../read-models/index.js';
import { outgoing } from './outgoing-events.js';

/** Of its row in `webhooks.checkpoint`. */
const CHECKPOINT = 'deliveries';
const BATCH_ROWS = 500;
const DAY_MS = 86_400_000;
/**
 * How long ago what is folded once more may have happened. Deliveries that are over are kept for longer
 * ({@link DELIVERIES_KEPT_MS}), so whatever was sent is found to have been.
 */
const REPEATED_MS = PUBLIC_EVENT_DAYS * DAY_MS;
export const DELIVERIES_KEPT_MS = 8 * DAY_MS;

/** As a row of `read_models.public_events` is read without an entity. */
interface StoredEvent extends Omit<PublicEvent, 'thin' | 'trace' | 'at'> {
  /** The position of the recorded event. */
  readonly seq: string;
  readonly thin: string;
  readonly trace: string | null;
  readonly at: Date;
}

/** What is to be sent, and to whom. */
interface DueDelivery {
  readonly webhook: WebhookId;
  readonly event: OutgoingEvent;
}

/** Where a fold goes on. */
export interface FoldPlace {
  readonly position: Position;
  /** What happened before was folded in another store, or under a log that has gone back since. */
  readonly sinceMs: number | null;
}

export interface Folding {
  readonly place: FoldPlace;
  readonly webhooks: readonly WebhookId[];
  /** Whether there may be more already. */
  readonly hasMore: boolean;
}

/**
 * Makes of public events what is to be sent: a row for each endpoint that was subscribed when the event was recorded. The rows
 * and the checkpoint that has passed their events are one statement. An event that is folded again, because the checkpoint is
 * of another store, finds its rows: they are kept for longer than public events are.
 */
export class WebhookFold {
  private endpoints: EndpointsAsOf;

  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
  ) {
    this.endpoints = new EndpointsAsOf(store);
  }

  /**
   * Where the fold goes on, which is now written down: public events beyond are kept for it.
   * @param session of the lease: one process folds at a time, and a statement of a former one that comes late writes nothing
   */
  async resume(session: LeaseSession): Promise<FoldPlace> {
    // What was folded last may have to be folded once more.
    this.endpoints = new EndpointsAsOf(this.store);
    const storeId = await this.store.storeId();
    const { rows } = await answered(
      session.query<{ store_id: string; seq: string; since_ms: string | null }>(
        `select store_id, seq, since_ms from webhooks.checkpoint where name = $1`,
        [CHECKPOINT],
      ),
    );
    const [known] = rows;
    const isVoid = known !== undefined && (known.store_id !== storeId || BigInt(known.seq) > (await this.store.head()));
    if (known !== undefined && !isVoid) {
      return { position: BigInt(known.seq), sinceMs: known.since_ms === null ? null : Number(known.since_ms) };
    }
    const place = { position: START, sinceMs: isVoid ? this.clock.nowMs() - REPEATED_MS : null };
    await this.write(session, [], place);
    return place;
  }

  /**
   * One batch of what lies beyond a place.
   * @returns where it ended, and to whom something is to be sent; the place that was given where there was nothing
   */
  async fold(session: LeaseSession, after: FoldPlace): Promise<Folding> {
    const { rows } = await answered(
      session.query<StoredEvent>(
        `select seq, evt, org, type, agent, livemode, trace, thin, at from read_models.public_events
          where seq > $1 order by seq limit ${BATCH_ROWS}`,
        [String(after.position)],
      ),
    );
    const last = rows.at(-1);
    if (last === undefined) return { place: after, webhooks: [], hasMore: false };
    const due = await this.dueOf(rows.filter(({ at }) => at.getTime() >= (after.sinceMs ?? 0)));
    const place = { ...after, position: BigInt(last.seq) };
    await this.write(session, due, place);
    if (due.length > 0) await failpoint('hook.enqueue');
    const webhooks = [...new Set(due.map(({ webhook }) => webhook))];
    return { place, webhooks, hasMore: rows.length === BATCH_ROWS };
  }

  private async dueOf(rows: readonly StoredEvent[]): Promise<readonly DueDelivery[]> {
    const moments = rows.map(({ org, seq }) => ({ org, position: BigInt(seq) }));
    const endpoints = await this.endpoints.at(moments);
    return rows.flatMap((row, index) => {
      const then = endpoints[index];
      if (then === undefined) return [];
      const event = outgoing(eventOf(row));
      return receiversOf(event.type, then).map((webhook) => ({ webhook, event }));
    });
  }

  private async write(session: LeaseSession, due: readonly DueDelivery[], place: FoldPlace): Promise<void> {
    await answered(
      session.query(
        `with made as (
           insert into webhooks.deliveries (webhook, event, org, type, body, traceparent, status, due_ms, created_ms)
           select d.webhook, d.event, d.org, d.type, d.body, d.traceparent, 'pending', $6, $6
             from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $11::text[])
                  as d (webhook, event, org, type, body, traceparent)
           on conflict do nothing),
         known as (
           insert into webhooks.endpoints (webhook) select distinct unnest($1::text[]) on conflict do nothing)
         insert into webhooks.checkpoint (name, store_id, seq, since_ms) values ($7, $8, $9, $10)
         on conflict (name) do update
           set store_id = excluded.store_id, seq = excluded.seq, since_ms = excluded.since_ms`,
        [
          due.map(({ webhook }) => webhook),
          due.map(({ event }) => event.id),
          due.map(({ event }) => event.org),
          due.map(({ event }) => event.type),
          due.map(({ event }) => event.body),
          this.clock.nowMs(),
          CHECKPOINT,
          await this.store.storeId(),
          String(place.position),
          place.sinceMs,
          due.map(({ event }) => event.traceparent),
        ],
      ),
    );
  }
}

const eventOf = ({ evt, org, type, agent, livemode, trace, thin, at }: StoredEvent): PublicEvent => ({
  evt,
  org,
  type,
  agent,
  livemode,
  trace: trace === null ? null : (JSON.parse(trace) as PublicEvent['trace']),
  thin: JSON.parse(thin) as PublicEvent['thin'],
  at: at.toISOString(),
});
