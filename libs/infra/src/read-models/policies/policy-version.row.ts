import type { Digest } from '#libs/crypto';
import type { Actor, OrgId, PolicyId, PolicyVersionId, Timestamp } from '#libs/domain/kernel';
import type { PolicyVersionOrigin } from '#libs/domain/policies';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { INSTANT, INTEGER, JSON_TEXT, TEXT } from '../columns.js';

/** Immutable. Whether it is in a slot stands in {@link PolicySlotRow}. */
@Entity({ name: 'policy_versions' })
@Index('policy_versions_by_number', ['org', 'policy', 'version'])
export class PolicyVersionRow {
  @PrimaryColumn({ ...TEXT, name: 'id' }) id: PolicyVersionId;
  @Column({ ...TEXT, name: 'org' }) org: OrgId;
  @Column({ ...TEXT, name: 'policy' }) policy: PolicyId;
  @Column({ ...INTEGER, name: 'version' }) version: number;
  @Column({ ...TEXT, name: 'source' }) source: string;
  /** What a page of versions is measured by. */
  @Column({ ...INTEGER, name: 'source_bytes' }) sourceBytes: number;
  @Column({ ...TEXT, name: 'source_hash' }) sourceHash: Digest;
  @Column({ ...TEXT, name: 'version_hash' }) versionHash: Digest;
  @Column({ ...TEXT, name: 'notes', nullable: true }) notes: string | null;
  @Column({ ...JSON_TEXT, name: 'author' }) author: Actor;
  @Column({ ...TEXT, name: 'origin' }) origin: PolicyVersionOrigin;
  @Column({ ...INSTANT, name: 'created_at' }) createdAt: Timestamp;
}
