import { Controller, Get, Headers, HttpCode, Post, Query, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { DomainError } from '#libs/domain/kernel';
import { LedgerProofs, MakeCheckpoint, rootText } from '#libs/domain/ledger';
import { CHANGE } from '../control-plane.js';
import type { Principal } from '../http/authenticator.port.js';
import type { Exchange } from '../http/exchange.js';
import { Caller, RequestContext } from '../http/parameters.js';
import { QueryInteger } from '../http/query-shape.js';
import { IfPresent } from '../http/shape.js';
import { IsIn } from 'class-validator';
import { Route } from '../http/route.decorator.js';
import { WitnessWords } from './witness-words.js';
import { madeCheckpointView, READ_TREE, requireSigned, requireWitnessed, sendTree } from './checkpoint-answers.js';

const SIZE_MAX = 999_999_999_999_999;
const ONE_OF_TWO = 'The parameters size and covering ask for two checkpoints. Send one of them.';

class NewestCheckpointQuery {
  /** Only one with the cosignatures that the quorum asks for. */
  @IfPresent()
  @IsIn(['true', 'false'], { message: 'must be true or false' })
  witnessed?: 'true' | 'false';
}

class CheckpointsQuery {
  /** The number of deeds that it is over. */
  @QueryInteger(1, SIZE_MAX)
  size?: number;

  /** The place of a deed in its ledger: the checkpoint that speaks for it. */
  @QueryInteger(1, SIZE_MAX)
  covering?: number;
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
    private readonly words: WitnessWords,
  ) {}

  @Get('/v1/ledger/checkpoint')
  @Route(READ_TREE)
  async newest(
    @Query() { witnessed }: NewestCheckpointQuery,
    @Headers('accept') accept: string | undefined,
    @Caller() { org }: Principal,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const tree =
      witnessed === 'true'
        ? requireWitnessed(await this.proofs.newestWitnessed(org))
        : requireSigned(await this.proofs.newest(org));
    sendTree(reply, accept, tree);
  }

  @Get('/v1/ledger/checkpoints')
  @Route(READ_TREE)
  async ofSize(
    @Query() { size, covering }: CheckpointsQuery,
    @Headers('accept') accept: string | undefined,
    @Caller() { org }: Principal,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (covering !== undefined) {
      if (size !== undefined) throw new DomainError('validation_failed', { param: 'covering', message: ONE_OF_TWO });
      return sendTree(reply, accept, requireSigned(await this.proofs.speakingFor(org, covering)));
    }
    const signed = size === undefined ? this.proofs.newest(org) : this.proofs.ofSize(org, size);
    sendTree(reply, accept, requireSigned(await signed));
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
    const { org } = exchange.caller;
    const made = await this.commands.execute(new MakeCheckpoint(org, exchange.commandMetadata()));
    const said = await this.words.of(org);
    const tree = requireSigned(await this.proofs.ofSize(org, made.signed.checkpoint.size));
    return madeCheckpointView(tree, made.isNew, said);
  }
}
