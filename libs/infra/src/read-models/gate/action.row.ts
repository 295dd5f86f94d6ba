import type { ActionId, AgentId, DeedId, KeyId, OrgId, Timestamp } from '#libs/domain/kernel';
import type { Decision, ExecutionStatus, LivingAction, RecordedState, WitnessVerdict } from '#libs/domain/gate';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { BOOLEAN, INSTANT, JSON_TEXT, TEXT } from '../columns.js';

/** Every state a list shows. `sealed` is the ledger's word, the others are the stream's. */
export type ListedActionState = RecordedState | 'sealed';

/**
 * One action of the list. `folded` is what `actionDecider.evolve` made of its stream, so that a list shows exactly what
 * the action itself does; the other columns repeat what filters and keysets ask for.
 */
@Entity({ name: 'actions' })
@Index('actions_by_time', ['org', 'createdAt', 'id'])
@Index('actions_by_agent', ['org', 'agent', 'createdAt', 'id'])
@Index('actions_by_key', ['org', 'key', 'createdAt', 'id'])
@Index('actions_by_tool', ['org', 'tool', 'createdAt', 'id'])
@Index('actions_on_behalf_of', ['org', 'onBehalfOf', 'createdAt', 'id'], { where: 'on_behalf_of IS NOT NULL' })
@Index('actions_unsealed', ['org', 'createdAt', 'id'], { where: `state <> 'sealed'` })
@Index('actions_by_error', ['org', 'errorCode', 'createdAt', 'id'], { where: 'error_code IS NOT NULL' })
@Index('actions_by_decision', ['org', 'decision', 'createdAt', 'id'], { where: `decision <> 'allow'` })
@Index('actions_by_verdict', ['org', 'verdict', 'createdAt', 'id'], { where: `verdict <> 'VERIFIED'` })
@Index('actions_by_level', ['org', 'level', 'createdAt', 'id'], { where: `level <> 'L0'` })
@Index('actions_by_rule', ['org', 'ruleId', 'createdAt', 'id'], { where: 'rule_id IS NOT NULL' })
@Index('actions_by_session', ['org', 'session', 'createdAt', 'id'], { where: 'session IS NOT NULL' })
@Index('actions_by_execution', ['org', 'execution', 'createdAt', 'id'], { where: `execution <> 'succeeded'` })
@Index('actions_shadow_differs', ['org', 'createdAt', 'id'], { where: 'shadow_differs' })
export class ActionRow {
  @PrimaryColumn({ ...TEXT, name: 'id' }) id: ActionId;
  @Column({ ...TEXT, name: 'org' }) org: OrgId;
  @Column({ ...TEXT, name: 'agent' }) agent: AgentId;
  @Column({ ...TEXT, name: 'tool' }) tool: string;
  @Column({ ...TEXT, name: 'state' }) state: ListedActionState;
  @Column({ ...TEXT, name: 'decision', nullable: true }) decision: Decision['outcome'] | null;
  @Column({ ...TEXT, name: 'verdict', nullable: true }) verdict: WitnessVerdict['verdict'] | null;
  @Column({ ...TEXT, name: 'level', nullable: true }) level: WitnessVerdict['level'] | null;
  /** Of the execution, else of the decision: what `q` looks in beside the tool. */
  @Column({ ...TEXT, name: 'error_code', nullable: true }) errorCode: string | null;
  @Column({ ...TEXT, name: 'on_behalf_of', nullable: true }) onBehalfOf: string | null;
  @Column({ ...INSTANT, name: 'created_at' }) createdAt: Timestamp;
  @Column({ ...TEXT, name: 'deed', nullable: true }) deed: DeedId | null;
  @Column({ ...INSTANT, name: 'sealed_at', nullable: true }) sealedAt: Timestamp | null;
  @Column({ ...JSON_TEXT, name: 'folded' }) folded: LivingAction;
  /** The rule that decided, or whose condition had no answer. */
  @Column({ ...TEXT, name: 'rule_id', nullable: true }) ruleId: string | null;
  @Column({ ...TEXT, name: 'session', nullable: true }) session: string | null;
  @Column({ ...TEXT, name: 'execution', nullable: true }) execution: ExecutionStatus | null;
  /** Whether the version in shadow decided differently. */
  @Column({ ...BOOLEAN, name: 'shadow_differs', default: false }) shadowDiffers: boolean;
  /** The API key that submitted it; null in the rows of an older projector alone. */
  @Column({ ...TEXT, name: 'key', nullable: true }) key: KeyId | null;
}
