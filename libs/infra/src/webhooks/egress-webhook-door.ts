import type { ErrorCode } from '#libs/domain/kernel';
import { type PostOutcome, WebhookDoor, type WebhookPost } from '#libs/domain/webhooks';
import { type EgressDoor, EgressFailure } from '../egress/index.js';

/** Read and discarded; what comes beyond is not read at all (rule HOOK-2). */
const RESPONSE_READ_MAX_BYTES = 65_536;

/** Deliveries through the door that connectors use, which judges the address at each of them and follows no redirect. */
export class EgressWebhookDoor extends WebhookDoor {
  constructor(private readonly door: Pick<EgressDoor, 'request'>) {
    super();
  }

  override async post({
    org,
    webhook,
    url,
    headers,
    body,
    timeoutMs,
    mayStillSend,
  }: WebhookPost): Promise<PostOutcome> {
    const { origin, pathname, search } = new URL(url);
    try {
      const { status } = await this.door.request({
        partition: `${org} ${webhook}`,
        origin,
        method: 'POST',
        target: `${pathname}${search}`,
        headers,
        body,
        maxResponseBytes: RESPONSE_READ_MAX_BYTES,
        keptResponseBytes: 0,
        // A request on a kept connection could be lost without anybody knowing whether it arrived.
        mayReuseConnection: false,
        mayStillSend,
        signal: AbortSignal.timeout(timeoutMs),
      });
      return outcomeOf(status);
    } catch (error) {
      if (!(error instanceof EgressFailure)) throw error;
      return outcomeOfFailure(error);
    }
  }
}

const outcomeOf = (status: number): PostOutcome =>
  status >= 200 && status < 300
    ? { isDelivered: true, httpStatus: status }
    : {
        isDelivered: false,
        httpStatus: status,
        errorCode: status === 429 ? 'upstream_rate_limited' : 'upstream_error',
      };

const outcomeOfFailure = ({ reason, code, status, hasSent }: EgressFailure): PostOutcome => {
  switch (reason) {
    case 'withdrawn':
      return { withdrawn: code ?? 'service_unavailable' };
    // What it said is said, however much more it would have said.
    case 'too_large':
      return outcomeOf(status ?? 0);
    case 'timeout':
      return failed('timeout', null);
    case 'blocked':
      return failed('destination_blocked', null);
    case 'broken':
      return failed('upstream_error', status);
    case 'unreachable':
    case 'untrusted':
      return failed(hasSent ? 'upstream_error' : 'connector_unavailable', null);
  }
};

const failed = (errorCode: ErrorCode, httpStatus: number | null): PostOutcome => ({
  isDelivered: false,
  httpStatus,
  errorCode,
});
