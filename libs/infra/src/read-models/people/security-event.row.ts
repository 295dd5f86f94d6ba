import type { OrgId, SessionId, Timestamp, UserId } from '#libs/domain/kernel';
import type { SessionEnd, SignedInBy } from '#libs/domain/people';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { INSTANT, TEXT } from '../columns.js';

/** A sign-in or a sign-out: one event of a session's stream. */
@Entity({ name: 'security_events' })
@Index('security_events_by_time', ['org', 'createdAt', 'id'])
export class SecurityEventRow {
  /** Of the event. */
  @PrimaryColumn({ ...TEXT, name: 'id' }) id: string;
  @Column({ ...TEXT, name: 'org' }) org: OrgId;
  @Column({ ...TEXT, name: 'type' }) type: 'user.signed_in' | 'user.signed_out';
  @Column({ ...TEXT, name: 'user_id' }) user: UserId;
  @Column({ ...TEXT, name: 'session' }) session: SessionId;
  @Column({ ...TEXT, name: 'via', nullable: true }) via: SignedInBy | null;
  @Column({ ...TEXT, name: 'why', nullable: true }) why: SessionEnd | null;
  @Column({ ...INSTANT, name: 'created_at' }) createdAt: Timestamp;
}
