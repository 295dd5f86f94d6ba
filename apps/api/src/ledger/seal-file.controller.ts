import { Body, Controller, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import { DomainError } from '#libs/domain/kernel';
import { SealFile } from '#libs/domain/ledger';
import { CHANGE } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { AwaitDeed } from './await-deed.js';
import { storedDeedView } from './deed.view.js';
import { SealFileBody } from './seal-file.dto.js';

/** Enough for a description of a file (rule DEED-15). */
const MAX_BODY_BYTES = 4_096;
/** The same time that a refusal waits for its seal (rule GATE-4). */
const SEAL_TIMEOUT_MS = 10_000;

@Controller()
export class SealFileController {
  constructor(
    private readonly commands: CommandBus,
    private readonly waiting: AwaitDeed,
  ) {}

  /** Seals the description of a file. The file itself is never sent, so the deed says nothing about its content. */
  @Post('/v1/deeds/files')
  @Route({ ...CHANGE, maxBodyBytes: MAX_BODY_BYTES, largeBodyAdvice: 'Send the digest of the file, not the file.' })
  async seal(@Body() body: SealFileBody, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const { org } = exchange.caller;
    const { sha256, bytes, media_type, label } = body;
    const file = { sha256, bytes, media_type, label };
    const event = await this.commands.execute(new SealFile({ org, ...file }, exchange.commandMetadata()));
    const patience = { waitMs: SEAL_TIMEOUT_MS, ended: exchange.clientGone };
    const deed = await this.waiting.sealing(event, org, patience);
    if (deed === null) throw new DomainError('service_unavailable', { message: NOT_SEALED_YET });
    return { object: 'sealed_file', ...file, deed: storedDeedView(deed) };
  }
}

/**
 * A 503 is not kept under an Idempotency-Key (rule API-10), so the same request sent again would seal the file again.
 */
const NOT_SEALED_YET =
  'The file is recorded but could not be sealed yet. Its deed follows: look for it with GET /v1/deeds?kind=admin&order=desc. Sent again, the file is sealed once more.';
