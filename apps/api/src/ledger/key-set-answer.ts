import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { DomainError } from '#libs/domain/kernel';
import { isTagKnown } from '../http/entity-tag.js';

interface WrittenSet<Keys> {
  readonly keys: Keys;
  readonly body: string;
  readonly etag: string;
}

/** The answer with every key of one kind: the complete set, or an error; for any page to read. */
export class KeySetAnswer<Keys> {
  private written: WrittenSet<Keys> | null = null;

  constructor(
    private readonly list: () => Promise<Keys>,
    private readonly view: (keys: Keys) => JsonObject,
  ) {}

  async send(known: string | undefined, reply: FastifyReply): Promise<void> {
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
  private async current(): Promise<WrittenSet<Keys>> {
    try {
      const keys = await this.list();
      if (this.written?.keys !== keys) this.written = this.write(keys);
      return this.written;
    } catch (error) {
      throw new DomainError('service_unavailable', { cause: error, retryAfterSeconds: 1 });
    }
  }

  private write(keys: Keys): WrittenSet<Keys> {
    const body = JSON.stringify(this.view(keys));
    return { keys, body, etag: `"sha256:${createHash('sha256').update(body).digest('hex')}"` };
  }
}
