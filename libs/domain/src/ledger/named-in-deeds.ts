import type { DeedBody, JsonValue } from '#libs/crypto';

/**
 * What the deeds of an export name by ids alone: whose names are told, and which texts and keys are, where their own
 * changes are not among the deeds. It grows with the people, agents and versions that there are, not with the deeds.
 */
export class NamedInDeeds {
  readonly agents = new Set<string>();
  /** By their ids, how they are called: what a tool's name begins with. */
  readonly connectors = new Map<string, string>();
  readonly policies = new Set<string>();
  readonly users = new Set<string>();
  readonly #versions = new Map<string, Set<string>>();
  readonly #intentKeys = new Map<string, Set<string>>();
  /** Versions and intent keys that a deed of the export has itself told. */
  readonly #told = new Set<string>();

  see(body: DeedBody): void {
    const { who, action, policy, approval, admin } = body;
    this.seeActor(who.actor);
    if (who.agent !== null) this.agents.add(who.agent);
    const [connector = '', ...tool] = action?.tool.split('.') ?? [];
    if (action?.connector && tool.length > 0) this.connectors.set(action.connector, connector);
    if (policy?.policy) {
      this.policies.add(policy.policy);
      if (policy.policy_version !== null) add(this.#versions, policy.policy, policy.policy_version);
    }
    for (const { by } of approval?.countersigned ?? []) this.users.add(by);
    if (approval?.decided_by) this.seeActor(approval.decided_by);
    if (admin !== null) this.seeTarget(admin.target);
  }

  private seeActor({ type, id }: DeedBody['who']['actor']): void {
    if (id === null) return;
    if (type === 'user') this.users.add(id);
    if (type === 'agent') this.agents.add(id);
  }

  private seeTarget({ type, id }: { readonly type: string; readonly id: string }): void {
    if (type === 'user') this.users.add(id);
    if (type === 'agent') this.agents.add(id);
    if (type === 'policy') this.policies.add(id);
  }

  /** The intent of a call names the key that signed it. */
  seeIntent(agent: string | null, intent: JsonValue): void {
    const kid = memberOf(intent, 'kid');
    if (agent !== null && kid !== null) add(this.#intentKeys, agent, kid);
  }

  /** What a change says itself, which is given with its deed. */
  seeData({ admin }: DeedBody, data: JsonValue): void {
    for (const name of ['user', 'owner']) {
      const user = memberOf(data, name);
      if (user?.startsWith('usr_') === true) this.users.add(user);
    }
    const agent = memberOf(data, 'agent');
    if (agent !== null) this.agents.add(agent);
    if (admin?.action === 'intent_key.added') this.#told.add(admin.target.id);
    const version = admin?.action === 'policy.version_added' ? memberOf(data, 'version_id') : null;
    if (version !== null) this.#told.add(version);
  }

  /** Versions that no deed of the export tells, by their policies. */
  get untoldVersions(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.untold(this.#versions);
  }

  /** Kids of intent keys that no deed of the export tells, by their agents. */
  get untoldIntentKeys(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.untold(this.#intentKeys);
  }

  private untold(seen: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyMap<string, ReadonlySet<string>> {
    const left = [...seen].map(([of, ids]) => [of, new Set([...ids].filter((id) => !this.#told.has(id)))] as const);
    return new Map(left.filter(([, ids]) => ids.size > 0));
  }
}

const add = (sets: Map<string, Set<string>>, of: string, id: string): void => {
  const known = sets.get(of);
  if (known === undefined) sets.set(of, new Set([id]));
  else known.add(id);
};

const memberOf = (value: JsonValue, name: string): string | null => {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null;
  const member = value[name];
  return typeof member === 'string' ? member : null;
};
