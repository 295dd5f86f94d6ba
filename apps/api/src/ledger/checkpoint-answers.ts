import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { DomainError } from '#libs/domain/kernel';
import { rootText, type WitnessedTree } from '#libs/domain/ledger';
import { prefers } from '../http/accepted.js';
import type { RouteOptions } from '../http/route.decorator.js';

/** Sizes and hashes say nothing of what deeds say, so every key that may read deeds may ask. */
export const READ_TREE = {
  auth: 'session_or_key',
  role: 'viewer',
  scopes: ['deeds:read'],
  since: '2026-10-01',
  unknownQuery: 'refused',
} as const satisfies RouteOptions;

/** Notes and proofs are UTF-8 text, as C2SP defines them. */
export const sendText = (reply: FastifyReply, text: string): void =>
  void reply
    .header('Content-Type', 'text/plain; charset=utf-8')
    .header('Cache-Control', 'private, no-cache')
    .send(text);

/** As {@link sendText}, where a route answers in either form. */
export const sendJson = (reply: FastifyReply, value: JsonObject): void =>
  void reply
    .header('Content-Type', 'application/json; charset=utf-8')
    .header('Cache-Control', 'private, no-cache')
    .send(JSON.stringify(value));

/** A note where nobody asks for JSON. */
export const sendTree = (reply: FastifyReply, accept: string | undefined, tree: WitnessedTree): void => {
  void reply.header('Vary', 'Accept');
  const isJson = prefers(accept, ({ mediaType }) => mediaType === 'application/json', 'text/plain');
  if (isJson) sendJson(reply, { object: 'checkpoint', ...treeView(tree) });
  else sendText(reply, tree.note);
};

/** @throws {DomainError} `not_found` where there is none */
export const requireSigned = <Signed>(signed: Signed | null): Signed => {
  if (signed !== null) return signed;
  throw new DomainError('not_found', {
    message:
      'No checkpoint of that kind was made yet. One is made each minute in which deeds were sealed, and at once by POST /v1/ledger/checkpoint.',
  });
};

/** @throws {DomainError} `not_found` where there is none */
export const requireWitnessed = (witnessed: WitnessedTree | null): WitnessedTree => {
  if (witnessed !== null) return witnessed;
  throw new DomainError('not_found', {
    message:
      'No checkpoint has the cosignatures that the quorum asks for. GET /v1/ledger/witnesses says who was asked, and what came of it.',
  });
};

export const madeCheckpointView = (
  tree: WitnessedTree,
  isNew: boolean,
  witnesses: readonly JsonObject[],
): JsonObject => ({
  object: 'checkpoint',
  ...treeView(tree),
  is_new: isNew,
  witnesses: [...witnesses],
});

const treeView = ({
  checkpoint: { origin, size, root },
  note,
  at,
  witnessedBy,
  quorum,
}: WitnessedTree): JsonObject => ({
  origin,
  size,
  root: rootText(root),
  note,
  made_at: at,
  witnessed_by: witnessedBy.map(({ name, at: cosignedAt }) => ({ name, at: cosignedAt })),
  quorum,
});
