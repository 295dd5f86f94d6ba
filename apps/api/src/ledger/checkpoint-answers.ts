import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { DomainError } from '#libs/domain/kernel';
import { type NewestCheckpoint, rootText, type SignedTree } from '#libs/domain/ledger';
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

/** @throws {DomainError} `not_found` where there is none */
export const requireSigned = <Signed>(signed: Signed | null): Signed => {
  if (signed !== null) return signed;
  throw new DomainError('not_found', {
    message:
      'No checkpoint of that kind was made yet. One is made each minute in which deeds were sealed, and at once by POST /v1/ledger/checkpoint.',
  });
};

export const checkpointView = ({ signed, isNew }: NewestCheckpoint): JsonObject => ({
  object: 'checkpoint',
  ...treeView(signed),
  is_new: isNew,
});

const treeView = ({ checkpoint: { origin, size, root }, note, at }: SignedTree): JsonObject => ({
  origin,
  size,
  root: rootText(root),
  note,
  made_at: at,
});
