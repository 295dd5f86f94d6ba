import type { OrgId, PolicyId, PolicyVersionId, Timestamp } from '#libs/domain/kernel';
import type { PolicyMode } from '#libs/domain/people';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { INSTANT, TEXT } from '../columns.js';

/** What an organization's enforce or shadow slot holds, as its own stream says. Both are null in an empty one. */
@Entity({ name: 'policy_slots' })
export class PolicySlotRow {
  @PrimaryColumn({ ...TEXT, name: 'org' }) org: OrgId;
  @PrimaryColumn({ ...TEXT, name: 'mode' }) mode: PolicyMode;
  @Column({ ...TEXT, name: 'policy', nullable: true }) policy: PolicyId | null;
  @Column({ ...TEXT, name: 'version_id', nullable: true }) versionId: PolicyVersionId | null;
  @Column({ ...INSTANT, name: 'changed_at' }) changedAt: Timestamp;
}
