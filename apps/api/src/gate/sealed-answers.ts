import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import { GateKernel } from '#libs/domain/gate';
import { DomainError, type ActionId } from '#libs/domain/kernel';
import type { Exchange } from '../http/exchange.js';
import { Site } from '../http/site.js';
import { ActionReader } from './action-reader.js';
import { actionView } from './action.view.js';
import { AwaitAction } from './await-action.js';

/**
 * Answers requests that end an action: with the sealed action, or with 503 if it is not sealed in time (rule GATE-4).
 */
@Injectable()
export class SealedAnswers {
  constructor(
    private readonly reader: ActionReader,
    private readonly waiting: AwaitAction,
    private readonly gate: GateKernel,
    private readonly site: Site,
  ) {}

  /**
   * Answers with an action whose end was recorded just now.
   * @param recorded what was recorded, as the beginning of a sentence ("The cancellation"), for the error message
   * @throws {DomainError} service_unavailable if the action is not sealed in time
   */
  async of(id: ActionId, exchange: Exchange, recorded: string): Promise<JsonObject> {
    const caller = { org: exchange.caller.org, stillAllowed: () => exchange.stillAllowedIfOld() };
    const patience = { waitMs: this.gate.settings.refusalSealTimeoutMs, ended: exchange.clientGone };
    const read = await this.waiting.settled(id, caller, patience, { isNew: true, mayBeSealed: true });
    if (!read || read.deed === null) {
      throw new DomainError('service_unavailable', {
        message: `${recorded} is recorded but could not be sealed yet. Do not send it again: read GET /v1/actions/${id}?wait=25 until its state is sealed.`,
      });
    }
    const viewpoint = { baseUrl: this.site.baseUrl, clock: this.gate.clock };
    return actionView(read, viewpoint, { result: await this.reader.resultOf(read.action) });
  }
}
