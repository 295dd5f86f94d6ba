import type pg from 'pg';
import type { PayloadsBesideLog } from '#libs/infra/event-store';
import { answered, textArray } from '#libs/infra/postgres';
import { GatheredCalls } from '#libs/infra/runtime';
import type { Digest, Salt } from '#libs/crypto';
import { PayloadStore, requireUndamaged, type Payload, type PayloadKind } from '#libs/domain/kernel';
import { payloadArrays } from './payload-arrays.js';

interface Asked {
  readonly owner: string;
  readonly kind: PayloadKind;
  readonly digest: Digest;
}

/**
 * Limits of one statement: enough payloads for all callers that usually wait, and small enough not to delay other
 * statements.
 */
const TOGETHER = { maxItems: 128, maxWeight: 1_048_576 };

const REMEMBERED_MAX_CHARACTERS = 2_097_152;
const REMEMBERED_FOR_MS = 1_000;

/**
 * A small cache of results that were just stored, because the response usually reads them at once. Entries expire after
 * a second, because retention may remove the rows in another process.
 */
class RecentPayloads {
  private readonly bodies = new Map<string, { readonly body: string; readonly at: number }>();
  private characters = 0;

  add(key: string, body: string): void {
    this.remove(key);
    const now = performance.now();
    this.bodies.set(key, { body, at: now });
    this.characters += body.length;
    // The map is in the order of insertion, so the oldest come first.
    for (const [oldest, { at }] of this.bodies) {
      if (this.characters <= REMEMBERED_MAX_CHARACTERS && now - at < REMEMBERED_FOR_MS) break;
      this.remove(oldest);
    }
  }

  get(key: string): string | null {
    const known = this.bodies.get(key);
    if (known && performance.now() - known.at < REMEMBERED_FOR_MS) return known.body;
    this.remove(key);
    return null;
  }

  private remove(key: string): void {
    this.characters -= this.bodies.get(key)?.body.length ?? 0;
    this.bodies.delete(key);
  }
}

/**
 * Payloads in `gate.payloads`. A column of type `text` can hold every body, because RFC 8785 escapes U+0000, the one
 * character that `text` cannot hold.
 */
export class PostgresPayloadStore extends PayloadStore implements PayloadsBesideLog {
  private readonly puts: GatheredCalls<Payload, void>;
  private readonly gets: GatheredCalls<Asked, string | null>;
  private readonly recent = new RecentPayloads();

  /** @param pool commits durably, because a payload must survive a database crash after the append that names it */
  constructor(private readonly pool: pg.Pool) {
    super();
    this.puts = new GatheredCalls((payloads) => this.putAll(payloads), {
      ...TOGETHER,
      weightOf: ({ body }) => body.length,
    });
    this.gets = new GatheredCalls((asked) => this.getAll(asked), TOGETHER);
  }

  override async put(payload: Payload): Promise<void> {
    await this.puts.of(payload);
    this.noteStored(payload);
  }

  /** Takes note of a payload that was stored by the commit of its append. */
  noteStored(payload: Payload): void {
    if (payload.kind === 'result') this.recent.add(keyOf(payload), payload.body);
  }

  override async get(owner: string, kind: PayloadKind, digest: Digest): Promise<string | null> {
    const asked = { owner, kind, digest };
    const known = this.recent.get(keyOf(asked));
    if (known !== null) return known;
    const body = await this.gets.of(asked);
    // Checked here and not in `getAll`, so that a damaged payload fails only its own reader.
    if (body !== null) requireUndamaged({ ...asked, body });
    return body;
  }

  override async salted(
    owner: string,
    kind: PayloadKind,
    digest: Digest,
  ): Promise<{ readonly body: string; readonly salts: readonly Salt[] } | null> {
    const { rows } = await answered(
      this.pool.query<{ body: string; salts: readonly Salt[] }>({
        name: 'payload-salted',
        text: `select body, array(select salt from gate.payload_salts where (owner, kind, digest) = ($1, $2, $3)) as salts
          from gate.payloads where (owner, kind, digest) = ($1, $2, $3)`,
        values: [owner, kind, digest],
      }),
    );
    const [row] = rows;
    if (row === undefined) return null;
    requireUndamaged({ owner, kind, digest, body: row.body });
    return row;
  }

  private async putAll(payloads: readonly Payload[]): Promise<readonly void[]> {
    await answered(
      this.pool.query({
        name: 'payload-put',
        text: 'select gate.put_payloads($1, $2, $3, $4, $5, $6)',
        values: [...payloadArrays(payloads)],
      }),
    );
    return payloads.map(() => undefined);
  }

  private async getAll(asked: readonly Asked[]): Promise<readonly (string | null)[]> {
    const { rows } = await answered(
      this.pool.query<{ place: number; body: string }>({
        name: 'payload-get',
        // A lateral lookup by the primary key. A plain join would keep the plan made while the table was small, and
        // scan the whole table after it has grown.
        text: `select asked.place, payload.body
          from unnest($1::text[], $2::text[], $3::text[]) with ordinality as asked (owner, kind, digest, place)
          cross join lateral (select body from gate.payloads stored
            where (stored.owner, stored.kind, stored.digest) = (asked.owner, asked.kind, asked.digest) limit 1) payload`,
        values: [
          textArray(asked.map(({ owner }) => owner)),
          textArray(asked.map(({ kind }) => kind)),
          textArray(asked.map(({ digest }) => digest)),
        ],
      }),
    );
    const bodies = new Map(rows.map(({ place, body }) => [Number(place), body]));
    return asked.map((_, index) => bodies.get(index + 1) ?? null);
  }
}

const keyOf = ({ owner, kind, digest }: Asked): string => `${owner} ${kind} ${digest}`;
