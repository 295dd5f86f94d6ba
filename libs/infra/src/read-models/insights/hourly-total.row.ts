import type { ActionStatus, Decision, WitnessVerdict } from '#libs/domain/gate';
import type { OrgId, Timestamp } from '#libs/domain/kernel';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNT, INSTANT, TEXT } from '../columns.js';

/**
 * How many actions of one hour ended alike, whoever called whatever: the sums of `hourly_counts` that the overview shows. As
 * many rows as hours and kinds of end, however many agents and tools there are. No row says 0.
 */
@Entity({ name: 'hourly_totals' })
@Index('hourly_totals_by_hour', ['org', 'hour'])
export class HourlyTotalRow {
  /** A digest of all columns but the last. */
  @PrimaryColumn({ ...TEXT, name: 'id' }) id: string;
  @Column({ ...TEXT, name: 'org' }) org: OrgId;
  /** Its first instant, in UTC. */
  @Column({ ...INSTANT, name: 'hour' }) hour: Timestamp;
  @Column({ ...TEXT, name: 'decision', nullable: true }) decision: Decision['outcome'] | null;
  @Column({ ...TEXT, name: 'source', nullable: true }) source: Decision['source'] | null;
  @Column({ ...TEXT, name: 'status' }) status: ActionStatus;
  @Column({ ...TEXT, name: 'verdict', nullable: true }) verdict: WitnessVerdict['verdict'] | null;
  @Column({ ...COUNT, name: 'actions' }) actions: number;
}
