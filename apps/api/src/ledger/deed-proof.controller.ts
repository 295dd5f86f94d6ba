import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError } from '#libs/domain/kernel';
import { LedgerProofs } from '#libs/domain/ledger';
import type { Principal } from '../http/authenticator.port.js';
import { Caller } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { READ_TREE, requireSigned, sendText } from './checkpoint-answers.js';
import { isPlaceVisible } from './deed-visibility.js';
import { StoredDeeds } from './stored-deeds.js';

@Controller()
export class DeedProofController {
  constructor(
    private readonly deeds: StoredDeeds,
    private readonly proofs: LedgerProofs,
  ) {}

  /**
   * That a deed is in the tree that was signed, for whoever has its `body_hash`. Also where its stored bytes were altered:
   * then it is what convicts them.
   */
  @Get('/v1/deeds/:id/proof')
  @Route(READ_TREE)
  async get(@Param('id') id: string, @Caller() caller: Principal, @Res() reply: FastifyReply): Promise<void> {
    const place = await this.deeds.placeOf(caller.org, id);
    if (!isPlaceVisible(place, caller)) throw new DomainError('not_found');
    sendText(reply, requireSigned(await this.proofs.ofDeed(caller.org, place.seq)));
  }
}
