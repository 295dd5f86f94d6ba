import { Controller, Get, Headers, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { COSE_MEDIA_TYPE } from '#libs/crypto';
import { DomainError } from '#libs/domain/kernel';
import type { StoredDeed } from '#libs/domain/ledger';
import type { Principal } from '../http/authenticator.port.js';
import { isTagKnown } from '../http/entity-tag.js';
import { Caller } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { CoseForm } from './cose-form.js';
import { isVisible } from './deed-visibility.js';
import { StoredDeeds } from './stored-deeds.js';
import { wantsCose } from './wants-cose.js';

/** The bytes never change, but the right to read them may, so a cached copy has to be revalidated. */
const CACHE_CONTROL = 'private, no-cache';

@Controller()
export class GetDeedController {
  constructor(
    private readonly deeds: StoredDeeds,
    private readonly cose: CoseForm,
  ) {}

  /**
   * The canonical bytes as they are stored, or with `Accept: application/cose` the COSE_Sign1 form of the same bytes.
   * Signature and key are in headers, so that the body stays exactly what was hashed and sealed.
   */
  @Get('/v1/deeds/:id')
  @Route({
    auth: 'session_or_key',
    role: 'viewer',
    scopes: ['deeds:read'],
    since: '2026-10-01',
    unknownQuery: 'refused',
  })
  async get(
    @Param('id') id: string,
    @Headers('accept') accept: string | undefined,
    @Headers('if-none-match') known: string | undefined,
    @Caller() caller: Principal,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const deed = await this.deeds.named(caller.org, id);
    if (!isVisible(deed, caller)) throw new DomainError('not_found');
    const isCose = wantsCose(accept);
    // Two representations never share a strong tag (RFC 9110, section 8.8.3). Otherwise a client that has one of them
    // and asks for the other would be told that it has it already.
    const etag = `"${deed.body_hash}${isCose ? '+cose' : ''}"`;
    // Made before any header is set, because this may throw.
    const form = isTagKnown(known, etag) ? null : await this.formOf(deed, isCose);
    void reply
      .header('ETag', etag)
      .header('Vary', 'Accept')
      .header('Cache-Control', CACHE_CONTROL)
      .header('Service-Deed-Seq', String(deed.seq))
      .header('Service-Deed-Kid', deed.kid)
      .header('Service-Deed-Signature', deed.signature);
    if (form === null) return void reply.code(304).send();
    void reply.header('Content-Type', isCose ? COSE_MEDIA_TYPE : 'application/json').send(form);
  }

  private async formOf(deed: StoredDeed, isCose: boolean): Promise<Buffer> {
    return isCose ? this.cose.of(deed) : Buffer.from(deed.body);
  }
}
