import type { ListedAgent } from '#libs/domain/agents';
import type { AgentId, OrgId, Timestamp } from '#libs/domain/kernel';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { INSTANT, JSON_TEXT, TEXT } from '../columns.js';

/** An agent, whatever its status: none is ever removed. */
@Entity({ name: 'agents' })
@Index('agents_by_time', ['org', 'createdAt', 'id'])
export class AgentRow {
  @PrimaryColumn({ ...TEXT, name: 'id' }) id: AgentId;
  @Column({ ...TEXT, name: 'org' }) org: OrgId;
  @Column({ ...TEXT, name: 'name' }) name: string;
  @Column({ ...TEXT, name: 'status' }) status: ListedAgent['status'];
  @Column({ ...INSTANT, name: 'created_at' }) createdAt: Timestamp;
  /** What the stream's `evolve` made of it: labels, budgets, keys without their hashes. */
  @Column({ ...JSON_TEXT, name: 'folded' }) folded: ListedAgent;
}
