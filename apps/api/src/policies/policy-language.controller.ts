import { Controller, Get, Headers, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { digestOf } from '#libs/crypto';
import { POLICY_LANGUAGE } from '#libs/domain/policies';
import { READ } from '../control-plane.js';
import { isTagKnown } from '../http/entity-tag.js';
import { Route } from '../http/route.decorator.js';

/** Another version of the service may know another language, so a kept copy is asked about. */
const CACHE_CONTROL = 'private, no-cache';

const BODY = JSON.stringify(POLICY_LANGUAGE);
const ETAG = `"${digestOf(BODY)}"`;

@Controller()
export class PolicyLanguageController {
  /** Every name that a policy can hold, for editors. */
  @Get('/v1/policies/language')
  @Route(READ)
  get(@Headers('if-none-match') known: string | undefined, @Res() reply: FastifyReply): void {
    void reply.header('ETag', ETAG).header('Cache-Control', CACHE_CONTROL);
    if (isTagKnown(known, ETAG)) return void reply.code(304).send();
    void reply.header('Content-Type', 'application/json; charset=utf-8').send(BODY);
  }
}
