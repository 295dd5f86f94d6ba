/** What an operator may set of webhooks (rules HOOK-1 and HOOK-4). Given once, at composition. */
export class WebhookSettings {
  /** Production takes https alone. */
  readonly isProduction: boolean;
  /** Of one attempt, from the look-up of the name to the end of the answer. */
  readonly timeoutMs: number;
  /** Of a delivery. */
  readonly maxAttempts: number;
  /** An endpoint all of whose deliveries have failed for so long is disabled. */
  readonly disableAfterMs: number;
  readonly maxEndpointsPerOrg: number;

  constructor(settings: Partial<WebhookSettings> = {}) {
    this.isProduction = settings.isProduction ?? true;
    this.timeoutMs = settings.timeoutMs ?? 10_000;
    this.maxAttempts = settings.maxAttempts ?? 8;
    this.disableAfterMs = settings.disableAfterMs ?? 72 * 60 * 60 * 1000;
    this.maxEndpointsPerOrg = settings.maxEndpointsPerOrg ?? 16;
  }
}
