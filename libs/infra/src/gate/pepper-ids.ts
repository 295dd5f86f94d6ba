import { createHmac, hkdfSync } from 'node:crypto';
import { IdempotentIds } from '#libs/domain/gate';
import { idOf, type ActionId, type AgentId, type OrgId } from '#libs/domain/kernel';

const ID_KEY_BYTES = 32;

/**
 * Derives action ids from idempotency keys. The organization's id key is HKDF-SHA256(pepper, info
 * `service/action-id/v1` LF org). It is stored in no row, so every backup must include the pepper. After a change of
 * the pepper, used idempotency keys are no longer recognized.
 */
export class PepperIds extends IdempotentIds {
  private readonly idKeys = new Map<OrgId, Buffer>();

  constructor(private readonly pepper: Uint8Array) {
    super();
  }

  override actionId(org: OrgId, agent: AgentId, key: string, generation: number): ActionId {
    return idOf('act', this.mac(org, `${agent}\n${key}\n${generation}`).subarray(0, 16));
  }

  override keyHash(org: OrgId, agent: AgentId, key: string): string {
    return this.mac(org, `${agent}\n${key}`).toString('hex');
  }

  private mac(org: OrgId, text: string): Buffer {
    return createHmac('sha256', this.idKeyOf(org)).update(text, 'latin1').digest();
  }

  private idKeyOf(org: OrgId): Buffer {
    const known = this.idKeys.get(org);
    if (known) return known;
    const info = `service/action-id/v1\n${org}`;
    const idKey = Buffer.from(hkdfSync('sha256', this.pepper, '', info, ID_KEY_BYTES));
    this.idKeys.set(org, idKey);
    return idKey;
  }
}
