import type { OrgId } from '#libs/domain/kernel';
import { type DoorAnswer, type DoorFault, WitnessDoor } from '#libs/domain/ledger';
import { type EgressDoor, EgressFailure } from '../egress/index.js';

const MAX_ANSWER_BYTES = 64 * 1_024;
const TIMEOUT_MS = 10_000;
const TEXT = [['Content-Type', 'text/plain; charset=utf-8']] as const;

/** Through the door that connectors and webhooks use; plain text is open in development alone. */
export class EgressWitnessDoor extends WitnessDoor {
  constructor(
    private readonly door: Pick<EgressDoor, 'request'>,
    private readonly timeoutMs = TIMEOUT_MS,
  ) {
    super();
  }

  override post(org: OrgId, url: string, body: string): Promise<DoorAnswer | DoorFault> {
    return this.send(org, url, { method: 'POST', headers: TEXT, body: Buffer.from(body) });
  }

  override get(org: OrgId, url: string): Promise<DoorAnswer | DoorFault> {
    return this.send(org, url, { method: 'GET', headers: [], body: null });
  }

  private async send(
    org: OrgId,
    url: string,
    sent: Pick<Parameters<EgressDoor['request']>[0], 'method' | 'headers' | 'body'>,
  ): Promise<DoorAnswer | DoorFault> {
    const { origin, pathname, search } = new URL(url);
    try {
      const { status, headers, body } = await this.door.request({
        ...sent,
        partition: `${org} witness`,
        origin,
        target: `${pathname}${search}`,
        maxResponseBytes: MAX_ANSWER_BYTES,
        keptResponseBytes: MAX_ANSWER_BYTES,
        // A witness that was asked rarely has closed it.
        mayReuseConnection: false,
        mayStillSend: () => Promise.resolve(null),
        signal: AbortSignal.timeout(this.timeoutMs),
      });
      const mediaType =
        headers
          .find(([name]) => name === 'content-type')?.[1]
          .split(';', 1)[0]
          ?.trim() ?? null;
      return { status, mediaType, body: body instanceof Uint8Array ? body : new Uint8Array(0) };
    } catch (error) {
      if (!(error instanceof EgressFailure)) throw error;
      // Nobody withdraws what is asked here.
      return error.reason === 'withdrawn' ? 'broken' : error.reason;
    }
  }
}
