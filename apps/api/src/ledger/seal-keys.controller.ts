import { Controller, Get, Headers, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { SealKeyAdministration, type SealKeys } from '#libs/domain/ledger';
import { Route } from '../http/route.decorator.js';
import { KeySetAnswer } from './key-set-answer.js';
import { keySetView } from './seal-key.view.js';

/** GET /.well-known/service/keys.json: every seal key that the deployment has ever activated, oldest first. */
@Controller()
export class SealKeysController {
  private readonly answer: KeySetAnswer<SealKeys>;

  constructor(keys: SealKeyAdministration) {
    this.answer = new KeySetAnswer(() => keys.list(), keySetView);
  }

  @Get('/.well-known/service/keys.json')
  @Route({ auth: 'public', since: '2026-10-01', unversioned: true })
  async get(@Headers('if-none-match') known: string | undefined, @Res() reply: FastifyReply): Promise<void> {
    await this.answer.send(known, reply);
  }
}
