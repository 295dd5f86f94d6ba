import { createHash } from 'node:crypto';
import { Controller, Get, Headers, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError } from '#libs/domain/kernel';
import { SealKeyAdministration, type SealKeys } from '#libs/domain/ledger';
import { isTagKnown } from '../http/entity-tag.js';
import { Route } from '../http/route.decorator.js';
import { keySetView } from './seal-key.view.js';

interface WrittenSet {
  readonly keys: SealKeys;
  readonly body: string;
  readonly etag: string;
}

/**
 * GET /.well-known/service/keys.json: every seal key that the deployment has ever activated, oldest first; the complete
 * set, or an error.
 */
@Controller()
export class SealKeysController {
  private written: WrittenSet | null = null;

  constructor(private readonly keys: SealKeyAdministration) {}

  @Get('/.well-known/service/keys.json')
  @Route({ auth: 'public', since: '2026-10-01', unversioned: true })
  async get(@Headers('if-none-match') known: string | undefined, @Res() reply: FastifyReply): Promise<void> {
    const { body, etag } = await this.current();
    void reply
      .header('ETag', etag)
      .header('Cache-Control', 'public, max-age=300')
      .header('Access-Control-Allow-Origin', '*');
    if (isTagKnown(known, etag)) return void reply.code(304).send();
    void reply.header('Content-Type', 'application/json; charset=utf-8').send(body);
  }

  /**
   * The key set as written. The store is asked each time whether the keys have changed, in whatever process: with a
   * copy that is a minute old, a client would call an honest bundle broken after a rotation, or a revoked key good
   * (rule DEED-16). Only the written form is cached.
   */
  private async current(): Promise<WrittenSet> {
    try {
      const keys = await this.keys.list();
      if (this.written?.keys !== keys) this.written = write(keys);
      return this.written;
    } catch (error) {
      throw new DomainError('service_unavailable', { cause: error, retryAfterSeconds: 1 });
    }
  }
}

const write = (keys: SealKeys): WrittenSet => {
  const body = JSON.stringify(keySetView(keys));
  return { keys, body, etag: `"sha256:${createHash('sha256').update(body).digest('hex')}"` };
};
