import type { ActionId, AgentId, ApprovalId, DeedId, OrgId, Timestamp } from '#libs/domain/kernel';
import type { ApprovalStatus, LivingAction } from '#libs/domain/gate';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { INSTANT, JSON_TEXT, TEXT } from '../columns.js';

/**
 * One approval of the list, which is an action that a person was asked about. `folded` is what `actionDecider.evolve` made
 * of that action's stream; the other columns repeat what filters and keysets ask for.
 */
@Entity({ name: 'approvals' })
@Index('approvals_by_expiry', ['org', 'expiresAt', 'id'])
@Index('approvals_by_status', ['org', 'status', 'expiresAt', 'id'])
@Index('approvals_by_agent', ['org', 'agent', 'expiresAt', 'id'])
@Index('approvals_by_tool', ['org', 'tool', 'expiresAt', 'id'])
export class ApprovalRow {
  @PrimaryColumn({ ...TEXT, name: 'id' }) id: ApprovalId;
  @Column({ ...TEXT, name: 'org' }) org: OrgId;
  @Column({ ...TEXT, name: 'action' }) action: ActionId;
  @Column({ ...TEXT, name: 'agent' }) agent: AgentId;
  @Column({ ...TEXT, name: 'tool' }) tool: string;
  @Column({ ...TEXT, name: 'status' }) status: ApprovalStatus;
  @Column({ ...INSTANT, name: 'expires_at' }) expiresAt: Timestamp;
  @Column({ ...TEXT, name: 'deed', nullable: true }) deed: DeedId | null;
  @Column({ ...JSON_TEXT, name: 'folded' }) folded: LivingAction;
}
