import type { OrgId } from '../kernel/index.js';

/** How long an organization's oldest outcome has been waiting for its seal. Refreshed in the background, never per request. */
export abstract class SealingBacklog {
  /** Milliseconds; 0 when nothing waits. */
  abstract oldestUnsealedAgeMs(org: OrgId): number;
}
