import type { ActionStatus, Decision, ExecutionStatus, WitnessVerdict } from '#libs/domain/gate';
import type { AgentId, OrgId, Timestamp } from '#libs/domain/kernel';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNT, INSTANT, TEXT } from '../columns.js';

/**
 * How many actions of one hour are alike in everything that the overview and the insights count by. An action counts in the
 * hour in which it was submitted, as it stands now: its row changes with it. No row says 0.
 */
@Entity({ name: 'hourly_counts' })
@Index('hourly_counts_by_hour', ['org', 'hour'])
export class HourlyCountRow {
  /** A digest of all columns but the last. */
  @PrimaryColumn({ ...TEXT, name: 'id' }) id: string;
  @Column({ ...TEXT, name: 'org' }) org: OrgId;
  /** Its first instant, in UTC. */
  @Column({ ...INSTANT, name: 'hour' }) hour: Timestamp;
  @Column({ ...TEXT, name: 'agent' }) agent: AgentId;
  @Column({ ...TEXT, name: 'tool' }) tool: string;
  @Column({ ...TEXT, name: 'decision', nullable: true }) decision: Decision['outcome'] | null;
  @Column({ ...TEXT, name: 'source', nullable: true }) source: Decision['source'] | null;
  @Column({ ...TEXT, name: 'rule_id', nullable: true }) ruleId: string | null;
  @Column({ ...TEXT, name: 'status' }) status: ActionStatus;
  @Column({ ...TEXT, name: 'execution', nullable: true }) execution: ExecutionStatus | null;
  @Column({ ...TEXT, name: 'verdict', nullable: true }) verdict: WitnessVerdict['verdict'] | null;
  @Column({ ...TEXT, name: 'level', nullable: true }) level: WitnessVerdict['level'] | null;
  @Column({ ...COUNT, name: 'actions' }) actions: number;
}
