import type { Actor, AgentId, KeyId, OrgId, SessionId, Timestamp, UserId } from '#libs/domain/kernel';
import type { ExportedRange } from '#libs/domain/ledger';
import type { SessionEnd, SignedInBy, SignInFault } from '#libs/domain/people';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { INSTANT, JSON_TEXT, TEXT } from '../columns.js';

/** Where there is an admin deed of the same event, both have one name. */
export const SECURITY_EVENT_TYPES = [
  'user.signed_in',
  'user.signed_out',
  'user.sign_in_failed',
  'login_link.issued',
  'member.address_set',
  'passkey.registered',
  'passkey.removed',
  'admin_key.created',
  'admin_key.rolled',
  'admin_key.revoked',
  'agent_key.created',
  'agent_key.rolled',
  'agent_key.revoked',
  'intent_key.added',
  'intent_key.removed',
  'export.started',
] as const;
export type SecurityEventType = (typeof SECURITY_EVENT_TYPES)[number];

/** The key or passkey that an event is about. Of an intent key the id is its `kid`. */
export interface SecurityEventKey {
  readonly id: string;
  /** As the key begins that was issued; null where the event issues none. */
  readonly prefix: string | null;
  /** Of a roll: the key that was issued. */
  readonly successor: KeyId | null;
  /** Whose key it is; null for an admin key. */
  readonly agent: AgentId | null;
}

/** Which deeds an export holds; both ends of `seq` are inclusive. */
type SecurityEventExport = Pick<ExportedRange, 'kind' | 'from' | 'to' | 'first_seq' | 'last_seq'>;

/** What somebody who looks after access wants to see: one event of the log. */
@Entity({ name: 'security_events' })
@Index('security_events_by_time', ['org', 'createdAt', 'id'])
export class SecurityEventRow {
  /** Of the event. */
  @PrimaryColumn({ ...TEXT, name: 'id' }) id: string;
  @Column({ ...TEXT, name: 'org' }) org: OrgId;
  @Column({ ...TEXT, name: 'type' }) type: SecurityEventType;
  /** Null only in rows that a projector of an older version wrote; the newer one makes them anew. */
  @Column({ ...JSON_TEXT, name: 'actor', nullable: true }) by: Actor | null;
  /** Whom it is about. */
  @Column({ ...TEXT, name: 'user_id', nullable: true }) user: UserId | null;
  @Column({ ...TEXT, name: 'session', nullable: true }) session: SessionId | null;
  @Column({ ...TEXT, name: 'via', nullable: true }) via: SignedInBy | null;
  @Column({ ...TEXT, name: 'why', nullable: true }) why: SessionEnd | SignInFault | null;
  @Column({ ...JSON_TEXT, name: 'key', nullable: true }) key: SecurityEventKey | null;
  @Column({ ...JSON_TEXT, name: 'export', nullable: true }) export: SecurityEventExport | null;
  @Column({ ...INSTANT, name: 'created_at' }) createdAt: Timestamp;
}
