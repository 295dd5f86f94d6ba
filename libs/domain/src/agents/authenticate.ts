import {
  DomainError,
  streamRef,
  type AgentId,
  type AssumableStates,
  type Clock,
  type FoldedStreams,
  type KeyId,
  type OrgId,
  type QuestionNumber,
  type StreamRef,
  timestampOf,
} from '../kernel/index.js';
import { organizationDecider, type LivingOrganization, type Organization } from '../people/index.js';
import { agentDecider } from './agent.decider.js';
import type { AgentScope } from './agent.events.js';
import type { Agent, LivingAgent } from './agent.state.js';
import { parseApiKey, type KeyDirectory, type KeyHasher, type ParsedApiKey } from './api-key.js';

/** Who is calling, as of the streams' current revisions. */
export type Caller =
  | {
      readonly kind: 'agent';
      readonly org: OrgId;
      /** Of the organization; null when it never pinned one. */
      readonly pinnedVersion: string | null;
      readonly agent: AgentId;
      readonly key: KeyId;
      readonly livemode: boolean;
      readonly scopes: readonly AgentScope[];
      /**
       * The last question put to the store before this judgement: whatever a later question covered is as fresh as the
       * judgement. `remembered`: no question was put, and the caller may have been shut out meanwhile.
       */
      readonly judgedSince: JudgedSince;
    }
  | {
      readonly kind: 'admin_key';
      readonly org: OrgId;
      readonly pinnedVersion: string | null;
      readonly key: KeyId;
      /** The same for a key and for every key that it was rolled to. */
      readonly lineage: KeyId;
      readonly livemode: boolean;
      readonly scopes: readonly ['admin'];
    };

export type JudgedSince = QuestionNumber | 'remembered';

export interface JudgeOptions {
  /** False on `POST /v1/actions` alone, where the gate records and seals the refusal itself. */
  readonly judgeStop: boolean;
  /**
   * If this process remembers an agent as one to let in, that alone lets it in, where it may be assumed
   * ({@link AssumableStates}). Nothing may be answered or done that is not confirmed in this way. Default false.
   */
  readonly mayRemember?: boolean;
}

/** A secret nobody has: an unknown prefix costs the same work as a wrong secret (rule KEY-2). */
const NOBODY = '0'.repeat(32);

/**
 * Judges a key: strict parse, constant-time hash check, revoked, expired, Stop state (rule KEY-2). Scopes are the
 * route's business and come next.
 */
export class Authenticate {
  constructor(
    private readonly streams: FoldedStreams,
    private readonly directory: KeyDirectory,
    private readonly hasher: KeyHasher,
    private readonly clock: Clock,
    private readonly assumable: AssumableStates,
  ) {}

  /**
   * @throws {DomainError} invalid_api_key, api_key_revoked, api_key_expired, agent_stopped, agent_suspended, org_stopped
   */
  async byKey(text: string, options: JudgeOptions): Promise<Caller> {
    const parsed = parseApiKey(text);
    if (!parsed) throw new DomainError('invalid_api_key');
    const holder = await this.directory.find(parsed.prefix);
    if (!holder) {
      this.hasher.matches(parsed.secret, this.hasher.hash(NOBODY));
      throw new DomainError('invalid_api_key');
    }
    const org = streamRef(organizationDecider, holder.org);
    if (holder.kind === 'org') {
      const { state } = await this.streams.load(org);
      return this.adminKey(parsed, state.status === 'none' ? null : state);
    }
    const refs = { agent: streamRef(agentDecider, holder.agent), org };
    const remembered = options.mayRemember ? this.remembered(parsed, refs) : null;
    if (remembered !== null) return remembered;
    const judgedSince = this.streams.lastQuestion;
    const loaded = await this.streams.loadAll(refs);
    const agent = loaded.agent.state;
    const caller = this.agentKey(parsed, agent.status === 'none' ? null : agent, loaded.org.state, judgedSince);
    if (options.judgeStop) refuseStopped(agent.status, loaded.org.state.status);
    return caller;
  }

  /** Null where what is assumed does not let the caller in: that may long have changed. */
  private remembered(
    parsed: ParsedApiKey,
    refs: { readonly agent: StreamRef<Agent>; readonly org: StreamRef<Organization> },
  ): Caller | null {
    const known = this.assumable.known(refs.agent);
    const org = this.assumable.known(refs.org);
    if (known === null || known.state.status === 'none' || org === null) return null;
    try {
      return this.agentKey(parsed, known.state, org.state, 'remembered');
    } catch (error) {
      if (error instanceof DomainError) return null;
      throw error;
    }
  }

  private adminKey(parsed: ParsedApiKey, org: LivingOrganization | null): Caller {
    const key = this.proven(parsed, org ? [...org.adminKeys.values()] : []);
    this.directory.noteUse(key.prefix, this.clock.nowMs());
    return {
      kind: 'admin_key',
      org: (org as LivingOrganization).org,
      pinnedVersion: (org as LivingOrganization).pinnedVersion,
      key: key.key,
      lineage: key.lineage,
      livemode: key.livemode,
      scopes: ['admin'],
    };
  }

  private agentKey(
    parsed: ParsedApiKey,
    state: LivingAgent | null,
    organization: Organization,
    judgedSince: JudgedSince,
  ): Caller {
    const key = this.proven(parsed, state ? [...state.keys.values()] : []);
    const { org, agent } = state as LivingAgent;
    const { key: id, livemode, scopes } = key;
    const pinnedVersion = organization.status === 'none' ? null : organization.pinnedVersion;
    return { kind: 'agent', org, agent, pinnedVersion, key: id, livemode, scopes, judgedSince };
  }

  private proven<
    Key extends { prefix: string; hash: string; livemode: boolean; revokedAt: string | null; expiresAt: string | null },
  >(parsed: ParsedApiKey, keys: readonly Key[]): Key {
    const key = keys.find((candidate) => candidate.prefix === parsed.prefix && candidate.livemode === parsed.livemode);
    const isRight = this.hasher.matches(parsed.secret, key?.hash ?? this.hasher.hash(NOBODY));
    if (!key || !isRight) throw new DomainError('invalid_api_key');
    if (key.revokedAt) throw new DomainError('api_key_revoked');
    if (key.expiresAt && key.expiresAt <= timestampOf(this.clock.nowMs())) throw new DomainError('api_key_expired');
    return key;
  }
}

/** The code by which a Stop refuses, the organization's first; null when nothing is stopped. */
export const stopCodeOf = (
  agent: 'none' | 'active' | 'stopped' | 'suspended',
  org: 'none' | 'started' | 'stopped',
): 'org_stopped' | 'agent_suspended' | 'agent_stopped' | null => {
  if (org === 'stopped') return 'org_stopped';
  if (agent === 'suspended') return 'agent_suspended';
  return agent === 'stopped' ? 'agent_stopped' : null;
};

const refuseStopped = (agent: 'none' | LivingAgent['status'], org: 'none' | LivingOrganization['status']): void => {
  const code = stopCodeOf(agent, org);
  if (code) throw new DomainError(code);
};
