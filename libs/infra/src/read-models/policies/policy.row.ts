import type { OrgId, PolicyId, PolicyVersionId, Timestamp } from '#libs/domain/kernel';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { INSTANT, TEXT } from '../columns.js';

@Entity({ name: 'policies' })
@Index('policies_by_time', ['org', 'createdAt', 'id'])
export class PolicyRow {
  @PrimaryColumn({ ...TEXT, name: 'id' }) id: PolicyId;
  @Column({ ...TEXT, name: 'org' }) org: OrgId;
  @Column({ ...TEXT, name: 'name' }) name: string;
  @Column({ ...INSTANT, name: 'created_at' }) createdAt: Timestamp;
  /** Null only between two events of one append. */
  @Column({ ...TEXT, name: 'latest_version_id', nullable: true }) latestVersionId: PolicyVersionId | null;
}
