import type { PublicEvent, PublicEventType, ThinObject } from '#libs/domain/events';
import type { AgentId, EventId, OrgId, Timestamp, TraceContext } from '#libs/domain/kernel';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { BOOLEAN, INSTANT, JSON_TEXT, TEXT } from '../columns.js';

/** A public event, whole: nothing else need be read to send it. Nothing ever changes one. */
@Entity({ name: 'public_events' })
export class PublicEventRow implements PublicEvent {
  /**
   * The position of the recorded event, in decimal digits: rows come in this order and in no other, since one projection
   * writes them all. Of one store alone, like every position.
   */
  @PrimaryColumn({ type: 'bigint', name: 'seq' }) seq: string;
  @Column({ ...TEXT, name: 'evt' }) evt: EventId;
  @Column({ ...TEXT, name: 'org' }) org: OrgId;
  @Column({ ...TEXT, name: 'type' }) type: PublicEventType;
  @Column({ ...TEXT, name: 'agent', nullable: true }) agent: AgentId | null;
  @Column({ ...BOOLEAN, name: 'livemode' }) livemode: boolean;
  @Column({ ...JSON_TEXT, name: 'trace', nullable: true }) trace: TraceContext | null;
  @Column({ ...JSON_TEXT, name: 'thin' }) thin: ThinObject;
  @Column({ ...INSTANT, name: 'at' }) at: Timestamp;
}
