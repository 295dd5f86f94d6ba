import { Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { LedgerProofs, MakeCheckpoint, rootText } from '#libs/domain/ledger';
import { CHANGE } from '../control-plane.js';
import type { Principal } from '../http/authenticator.port.js';
import type { Exchange } from '../http/exchange.js';
import { Caller, RequestContext } from '../http/parameters.js';
import { QueryInteger } from '../http/query-shape.js';
import { Route } from '../http/route.decorator.js';
import { checkpointView, READ_TREE, requireSigned, sendText } from './checkpoint-answers.js';

const SIZE_MAX = 999_999_999_999_999;

class CheckpointsQuery {
  /** The number of deeds that it is over. */
  @QueryInteger(1, SIZE_MAX)
  size?: number;
}

class ConsistencyQuery {
  @QueryInteger(0, SIZE_MAX)
  from?: number;

  @QueryInteger(1, SIZE_MAX)
  to?: number;
}

/** The tree of the organization's ledger, as it was signed. */
@Controller()
export class CheckpointsController {
  constructor(
    private readonly proofs: LedgerProofs,
    private readonly commands: CommandBus,
  ) {}

  @Get('/v1/ledger/checkpoint')
  @Route(READ_TREE)
  async newest(@Caller() { org }: Principal, @Res() reply: FastifyReply): Promise<void> {
    sendText(reply, requireSigned(await this.proofs.newest(org)).note);
  }

  @Get('/v1/ledger/checkpoints')
  @Route(READ_TREE)
  async ofSize(
    @Query() { size }: CheckpointsQuery,
    @Caller() { org }: Principal,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const signed = size === undefined ? this.proofs.newest(org) : this.proofs.ofSize(org, size);
    sendText(reply, requireSigned(await signed).note);
  }

  @Get('/v1/ledger/consistency')
  @Route(READ_TREE)
  async consistency(@Query() { from = 0, to }: ConsistencyQuery, @Caller() { org }: Principal): Promise<JsonObject> {
    const newest = requireSigned(await this.proofs.newest(org));
    const size = to ?? newest.checkpoint.size;
    const hashes = await this.proofs.consistency(org, from, size);
    return { object: 'consistency_proof', from, to: size, hashes: hashes.map(rootText) };
  }

  /** Now, and not within the minute. */
  @Post('/v1/ledger/checkpoint')
  @HttpCode(200)
  @Route(CHANGE)
  async make(@RequestContext() exchange: Exchange): Promise<JsonObject> {
    const made = await this.commands.execute(new MakeCheckpoint(exchange.caller.org, exchange.commandMetadata()));
    return checkpointView(made);
  }
}
