import { Controller, Get, Headers, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { type CheckpointKeys, CheckpointSigningKeys } from '#libs/domain/ledger';
import { Route } from '../http/route.decorator.js';
import { KeySetAnswer } from './key-set-answer.js';

/**
 * GET /.well-known/service/checkpoint-keys.json: every key that ever signed checkpoints, oldest first. With the origin in a
 * checkpoint's first line each gives the verifier key of that organization's tree.
 */
@Controller()
export class CheckpointKeysController {
  private readonly answer: KeySetAnswer<CheckpointKeys>;

  constructor(keys: CheckpointSigningKeys) {
    this.answer = new KeySetAnswer(() => keys.list(), keySetView);
  }

  @Get('/.well-known/service/checkpoint-keys.json')
  @Route({ auth: 'public', since: '2026-10-01', unversioned: true })
  async get(@Headers('if-none-match') known: string | undefined, @Res() reply: FastifyReply): Promise<void> {
    await this.answer.send(known, reply);
  }
}

const keySetView = (keys: CheckpointKeys): JsonObject => ({
  object: 'checkpoint_key_set',
  keys: keys.map(({ publicKey, activatedAt, retiredAt }) => ({
    alg: 'Ed25519',
    public_key: publicKey,
    activated_at: activatedAt,
    retired_at: retiredAt,
  })),
});
