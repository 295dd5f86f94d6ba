import { encodeHex, sha256 } from '#libs/crypto';
import type { Clock, Randomness } from '#libs/domain/kernel';
import { translateDatabaseError } from '#libs/infra/postgres';
import type { Pool, QueryResult, QueryResultRow } from 'pg';
import { KeptFingerprint } from './kept-fingerprint.js';

/** A key is remembered this long after its first request (rule API-10). */
export const REMEMBERED_MS = 24 * 60 * 60 * 1_000;

/** Rows removed by one purge statement, so that none holds locks for long. */
const PURGE_BATCH_ROWS = 1_000;
/** A row may vanish between losing to it and reading it, when its owner releases it. Each round needs another such release. */
const MAX_CLAIM_ROUNDS = 8;

/** Whose key it is: the same text from two principals, or in two organizations, is two keys. */
export interface KeyScope {
  readonly org: string;
  readonly principal: string;
  readonly key: string;
}

export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty when the answer has no body. */
  readonly body: string;
}

export interface ClaimRequest {
  readonly scope: KeyScope;
  /** Plain digest of method, route, path and body: what makes two requests the same. It is compared and never stored. */
  readonly fingerprint: string;
  /** Kept when the key is new. A retry gets the id of the first try, so that it never makes a second object. */
  readonly commandId: string;
  /** How long this try may run before a retry takes its place. */
  readonly lockMs: number;
}

/** The right to run the request, and to say once how it ended. */
export interface ClaimedKey {
  readonly outcome: 'claimed';
  readonly id: Uint8Array;
  readonly claim: string;
  readonly commandId: string;
}

export interface FinishedRequest {
  readonly outcome: 'finished';
  readonly answer: StoredAnswer;
}

export type Claim =
  | ClaimedKey
  | FinishedRequest
  /** The first request with the key still runs. */
  | { readonly outcome: 'in_use' }
  /** The key belongs to a different request. */
  | { readonly outcome: 'conflict' };

/**
 * The rows behind Idempotency-Key. A guard beside the log, not a fact: losing them costs the memory of answers, while the
 * command ids in the log still keep a retry from making a second object.
 */
export class IdempotencyStore {
  private readonly kept: KeptFingerprint;

  /** @param pepper the deployment's secret, under which fingerprints are kept */
  constructor(
    private readonly pool: Pool,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
    pepper: Uint8Array,
  ) {
    this.kept = new KeptFingerprint(pepper);
  }

  /**
   * Takes the key, or says why not. A key whose 24 hours are over is new; one whose try ran out of its lock is taken over.
   * @throws {StoreUnavailable}
   */
  async claim(request: ClaimRequest): Promise<Claim> {
    const id = idOf(request.scope);
    const [kept, plain] = [this.kept.of(id, request.fingerprint), request.fingerprint];
    const claim = encodeHex(this.randomness.bytes(16));
    for (let round = 1; round <= MAX_CLAIM_ROUNDS; round += 1) {
      const nowMs = this.clock.nowMs();
      const taken = await this.query<{ command_id: string }>(CLAIM, [
        id,
        kept,
        request.commandId,
        claim,
        nowMs + request.lockMs,
        nowMs + REMEMBERED_MS,
        nowMs,
        plain,
      ]);
      const [won] = taken.rows;
      if (won) return { outcome: 'claimed', id, claim, commandId: won.command_id };
      const [held] = (await this.query<HeldRow>(READ, [id])).rows;
      if (held) return judge(held, [kept, plain]);
    }
    return { outcome: 'in_use' };
  }

  /** Stores how the request ended. Does nothing when the claim was taken over meanwhile: the later try speaks. */
  async finish({ id, claim }: ClaimedKey, answer: StoredAnswer): Promise<void> {
    await this.query(FINISH, [id, claim, answer.status, JSON.stringify(answer.headers), answer.body]);
  }

  /** Forgets the key: the same request runs again as if it were the first. */
  async release({ id, claim }: ClaimedKey): Promise<void> {
    await this.query(RELEASE, [id, claim]);
  }

  /** Removes what is no longer remembered; run it every few minutes. Returns how many rows went. */
  async purge(): Promise<number> {
    let removed = 0;
    for (;;) {
      const { rowCount } = await this.query(PURGE, [this.clock.nowMs(), PURGE_BATCH_ROWS]);
      removed += rowCount ?? 0;
      if ((rowCount ?? 0) < PURGE_BATCH_ROWS) return removed;
    }
  }

  private async query<Row extends QueryResultRow>(text: string, values: unknown[]): Promise<QueryResult<Row>> {
    try {
      return await this.pool.query<Row>(text, values);
    } catch (error) {
      throw translateDatabaseError(error);
    }
  }
}

interface HeldRow {
  readonly fingerprint: string;
  readonly answer_status: number | null;
  readonly answer_headers: string | null;
  readonly answer_body: string | null;
}

// One statement, so that of racing requests exactly one is told that it won. `expires_at_ms <= now` makes a new key of it;
// an unfinished try past its lock is taken over with its command id, by the same request only. A row of a version before
// fingerprints were keyed holds the plain one ($8) for its 24 hours: it is compared too, and never written.
const CLAIM = `
  INSERT INTO idempotency.request AS held (id, fingerprint, command_id, claim, locked_until_ms, expires_at_ms)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (id) DO UPDATE SET
    claim = excluded.claim,
    locked_until_ms = excluded.locked_until_ms,
    fingerprint = excluded.fingerprint,
    command_id = CASE WHEN held.expires_at_ms <= $7 THEN excluded.command_id ELSE held.command_id END,
    expires_at_ms = CASE WHEN held.expires_at_ms <= $7 THEN excluded.expires_at_ms ELSE held.expires_at_ms END,
    answer_status = NULL, answer_headers = NULL, answer_body = NULL
  WHERE (held.expires_at_ms <= $7 AND (held.answer_status IS NOT NULL OR held.locked_until_ms <= $7))
     OR (held.answer_status IS NULL AND held.locked_until_ms <= $7 AND held.fingerprint IN (excluded.fingerprint, $8))
  RETURNING command_id`;

const READ = `
  SELECT fingerprint, answer_status, answer_headers, answer_body FROM idempotency.request WHERE id = $1`;

const FINISH = `
  UPDATE idempotency.request SET answer_status = $3, answer_headers = $4, answer_body = $5
  WHERE id = $1 AND claim = $2 AND answer_status IS NULL`;

const RELEASE = `DELETE FROM idempotency.request WHERE id = $1 AND claim = $2 AND answer_status IS NULL`;

const PURGE = `
  DELETE FROM idempotency.request WHERE id IN (
    SELECT id FROM idempotency.request WHERE expires_at_ms <= $1 AND (answer_status IS NOT NULL OR locked_until_ms <= $1)
    ORDER BY expires_at_ms LIMIT $2 FOR UPDATE SKIP LOCKED)`;

/** Lengths keep the parts apart: no key can be built that reads as another principal's. */
const idOf = ({ org, principal, key }: KeyScope): Uint8Array =>
  sha256([org, principal, key].map((part) => `${part.length}:${part}`).join(''));

/** @param same each form that the fingerprint of this request may be kept in */
const judge = (held: HeldRow, same: readonly string[]): Claim => {
  if (!same.includes(held.fingerprint)) return { outcome: 'conflict' };
  if (held.answer_status === null) return { outcome: 'in_use' };
  return {
    outcome: 'finished',
    answer: {
      status: held.answer_status,
      headers: JSON.parse(held.answer_headers ?? '{}') as Record<string, string>,
      body: held.answer_body ?? '',
    },
  };
};
