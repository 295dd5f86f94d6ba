import { Controller, Get, Param } from '@nestjs/common';
import { type JsonObject, parseDeedBody } from '#libs/crypto';
import { DeedEvidence, type Opening } from '#libs/domain/ledger';
import { READ } from '../control-plane.js';
import type { Principal } from '../http/authenticator.port.js';
import { Caller } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { StoredDeeds } from './stored-deeds.js';

@Controller()
export class DeedEvidenceController {
  constructor(
    private readonly deeds: StoredDeeds,
    private readonly evidence: DeedEvidence,
  ) {}

  /**
   * What each digest of a deed stands for, with the salt by which anybody can check it. For people and admin keys: it
   * holds what approvers were shown and said, which is not the agent's.
   */
  @Get('/v1/deeds/:id/evidence')
  @Route({ ...READ, agentsInstead: 'An agent has the arguments and the result of its call: GET /v1/actions/{id}.' })
  async get(@Param('id') id: string, @Caller() caller: Principal): Promise<JsonObject> {
    const deed = await this.deeds.named(caller.org, id);
    const body = parseDeedBody(Buffer.from(deed.body));
    const openings = await this.evidence.of(body);
    return { object: 'deed_evidence', deed: deed.deed, v: body.v, data: openings.map(openingView) };
  }
}

const openingView = (opening: Opening): JsonObject => {
  const { member, commitment } = opening;
  if ('absent' in opening) return { member, commitment, status: opening.absent, salt: null, value: null };
  const { salt, value, signature } = opening;
  const given = { member, commitment, status: 'given', salt, value };
  return signature === undefined ? given : { ...given, signature };
};
