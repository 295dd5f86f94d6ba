import type { Digest } from '#libs/crypto';
import type { ActionId, AgentId, DeedId, OrgId, Timestamp } from '#libs/domain/kernel';
import type { DeedAbout, DeedKind } from '#libs/domain/ledger';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNT, INSTANT, JSON_TEXT, TEXT } from '../columns.js';

/** The envelope of a deed. Its bytes stay in the log: stream `ledger-<org>` at revision `seq` - 1. */
@Entity({ name: 'deeds' })
@Index('deeds_by_seq', ['org', 'seq'])
@Index('deeds_by_kind', ['org', 'kind', 'seq'])
@Index('deeds_by_action', ['org', 'action', 'seq'], { where: 'action IS NOT NULL' })
@Index('deeds_by_agent', ['org', 'agent', 'seq'], { where: 'agent IS NOT NULL' })
@Index('deeds_by_time', ['org', 'issuedAt', 'seq'])
export class DeedRow {
  @PrimaryColumn({ ...TEXT, name: 'id' }) id: DeedId;
  @Column({ ...TEXT, name: 'org' }) org: OrgId;
  @Column({ ...COUNT, name: 'seq' }) seq: number;
  @Column({ ...TEXT, name: 'kind' }) kind: DeedKind;
  @Column({ ...TEXT, name: 'action', nullable: true }) action: ActionId | null;
  /** Whose action it is about; null for an admin deed. */
  @Column({ ...TEXT, name: 'agent', nullable: true }) agent: AgentId | null;
  @Column({ ...INSTANT, name: 'issued_at' }) issuedAt: Timestamp;
  @Column({ ...TEXT, name: 'body_hash' }) bodyHash: Digest;
  @Column({ ...TEXT, name: 'prev_hash', nullable: true }) prevHash: Digest | null;
  @Column({ ...TEXT, name: 'kid' }) kid: string;
  @Column({ ...TEXT, name: 'signature' }) signature: string;
  /** Null in a row that an older version wrote, until its rows are made anew. */
  @Column({ ...JSON_TEXT, name: 'about', nullable: true }) about: DeedAbout | null;
}
