import { type JsonObject, sha256Hex } from '#libs/crypto';
import { DomainError, Logger } from '#libs/domain/kernel';
import { type ClaimedKey, type FinishedRequest, IdempotencyStore, type StoredAnswer } from '#libs/infra/idempotency';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type Answer, ErrorAnswers, JSON_CONTENT_TYPE } from './error-answers.js';
import type { Exchange } from './exchange.js';
import { IDEMPOTENCY_KEY_HEADER, IDEMPOTENT_REPLAYED_HEADER } from './idempotency-key.js';
import type { RouteEntry } from './route-table.js';

/**
 * Added to the handler's own time limit: when both have passed, the first try is over and a retry runs (rule API-11).
 */
const LOCK_SLACK_MS = 5_000;
/** Larger answers are not remembered; the key is free again. */
const MAX_STORED_BYTES = 1_048_576;
/** Headers that a replay carries. */
const REPLAYED_HEADERS = ['Content-Type', 'Retry-After', 'Allow', 'Location', 'WWW-Authenticate'] as const;
const STATUSES_NOT_STORED: ReadonlySet<number> = new Set([429, 503]);
/**
 * Members that the stored copy does not keep: a secret that was shown once, and an e-mail address, which stands in no row in
 * clear. Only the object's own, never those of the objects inside it, whose names are anybody's.
 */
const UNSTORED_MEMBERS = ['secret', 'email'] as const;

/** Idempotency of every POST but the gate's own (rule API-10). */
@Injectable()
export class IdempotentAnswers {
  constructor(
    private readonly store: IdempotencyStore,
    private readonly answers: ErrorAnswers,
    private readonly logger: Logger,
  ) {}

  /**
   * What the handler answers, or answered when the request came first.
   * @throws {DomainError} idempotency_conflict, idempotency_key_in_use, and whatever the handler throws
   */
  async answerOnce(
    exchange: Exchange,
    route: RouteEntry,
    reply: FastifyReply,
    handle: () => Promise<unknown>,
  ): Promise<unknown> {
    const { idempotencyKey } = exchange;
    if (route.idempotency !== 'generic' || idempotencyKey === null) return handle();
    const claim = await this.claim(exchange, route, idempotencyKey);
    if (claim.outcome === 'finished') return replay(claim.answer, exchange, reply);
    exchange.adoptCommandId(claim.commandId);
    return this.run(handle, exchange, reply, claim);
  }

  private async claim(exchange: Exchange, route: RouteEntry, key: string): Promise<ClaimedKey | FinishedRequest> {
    const { caller, commandId } = exchange;
    const claim = await this.store.claim({
      scope: { org: caller.org, principal: exchange.principalRef, key },
      fingerprint: fingerprintOf(exchange, route),
      commandId,
      lockMs: route.timeoutMs + LOCK_SLACK_MS,
    });
    switch (claim.outcome) {
      case 'conflict':
        throw new DomainError('idempotency_conflict', { param: IDEMPOTENCY_KEY_HEADER });
      case 'in_use':
        throw new DomainError('idempotency_key_in_use', { param: IDEMPOTENCY_KEY_HEADER, retryAfterSeconds: 1 });
      default:
        return claim;
    }
  }

  private async run(
    handle: () => Promise<unknown>,
    exchange: Exchange,
    reply: FastifyReply,
    claim: ClaimedKey,
  ): Promise<string | undefined> {
    try {
      const value = await handle();
      const body = value === undefined ? '' : JSON.stringify(value);
      if (body !== '') void reply.header('Content-Type', JSON_CONTENT_TYPE);
      await this.settle(claim, { status: reply.statusCode, headers: headersOf(reply), body });
      // No body is not the same as an empty text: an answer without a body has no content type either.
      return body === '' ? undefined : body;
    } catch (error) {
      await this.settle(claim, keptAnswer(this.answers.answerFor(error, exchange)));
      throw error;
    }
  }

  /**
   * Stores the answer before it is sent. Where storing fails the answer is still true: it is sent, and a retry is
   * recognised by its command id.
   */
  private async settle(claim: ClaimedKey, answer: StoredAnswer): Promise<void> {
    const isStored = !STATUSES_NOT_STORED.has(answer.status) && Buffer.byteLength(answer.body) <= MAX_STORED_BYTES;
    try {
      if (isStored) await this.store.finish(claim, { ...answer, body: withoutSecrets(answer.body) });
      else await this.store.release(claim);
    } catch (error) {
      this.logger.error(isStored ? 'idempotency store failed' : 'idempotency release failed', { error });
    }
  }
}

/** Of method, route pattern, path and body bytes (rule API-12). Lengths keep the parts apart. */
const fingerprintOf = (exchange: Exchange, route: RouteEntry): string => {
  const parts = [route.method, route.template, exchange.path].map((part) => `${part.length}:${part}`);
  return sha256Hex(Buffer.concat([Buffer.from(parts.join('')), exchange.body]));
};

const replay = (answer: StoredAnswer, exchange: Exchange, reply: FastifyReply): string | undefined => {
  exchange.isIdempotentReplay = true;
  void reply.code(answer.status).headers(answer.headers).header(IDEMPOTENT_REPLAYED_HEADER, 'true');
  return answer.body === '' ? undefined : answer.body;
};

const headersOf = (reply: FastifyReply): Record<string, string> => {
  const kept: Record<string, string> = {};
  for (const name of REPLAYED_HEADERS) {
    const value = reply.getHeader(name);
    if (value !== undefined) kept[name] = String(value);
  }
  return kept;
};

const keptAnswer = ({ status, headers, body }: Answer): StoredAnswer => ({
  status,
  headers: Object.fromEntries(
    REPLAYED_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  ),
  body,
});

/** A replay says null where the first answer said what is not kept. */
const withoutSecrets = (body: string): string => {
  if (!UNSTORED_MEMBERS.some((member) => body.includes(`"${member}"`))) return body;
  const answer = JSON.parse(body) as JsonObject;
  const kept = Object.entries(answer).map(([name, value]) => [name, isUnstored(name) ? null : value] as const);
  return JSON.stringify(Object.fromEntries(kept));
};

const isUnstored = (name: string): boolean => (UNSTORED_MEMBERS as readonly string[]).includes(name);
