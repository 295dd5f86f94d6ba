import { createHash } from 'node:crypto';
import { Controller, Get, Headers, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Clock, DomainError } from '#libs/domain/kernel';
import { SealKeyAdministration } from '#libs/domain/ledger';
import { isTagKnown } from '../http/entity-tag.js';
import { Route } from '../http/route.decorator.js';
import { keySetView } from './seal-key.view.js';

/** Document 1, Limits: server side. */
const CACHE_MS = 60_000;

interface CachedSet {
  readonly body: string;
  readonly etag: string;
  readonly readAtMs: number;
}

/** GET /.well-known/service/keys.json: every seal key the deployment ever registered, oldest first, whole or not at all. */
@Controller()
export class SealKeysController {
  private cached: CachedSet | null = null;

  constructor(
    private readonly keys: SealKeyAdministration,
    private readonly clock: Clock,
  ) {}

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

  private async current(): Promise<CachedSet> {
    const nowMs = this.clock.monotonicMs();
    if (this.cached && nowMs - this.cached.readAtMs < CACHE_MS) return this.cached;
    try {
      const body = JSON.stringify(keySetView(await this.keys.list()));
      const etag = `"sha256:${createHash('sha256').update(body).digest('hex')}"`;
      this.cached = { body, etag, readAtMs: nowMs };
      return this.cached;
    } catch (error) {
      throw new DomainError('service_unavailable', { cause: error, retryAfterSeconds: 1 });
    }
  }
}
