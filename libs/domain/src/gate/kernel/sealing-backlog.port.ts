import type { OrgId } from '../../kernel/index.js';

/**
 * How long an organization's oldest unsealed outcome has been waiting for its deed. The value is refreshed in the
 * background, not per request.
 */
export abstract class SealingBacklog {
  /** In milliseconds; 0 if no outcome waits. */
  abstract oldestUnsealedAgeMs(org: OrgId): number;
}
