import {
  NO_METER,
  streamRef,
  type FoldedStreams,
  type Meter,
  type PolicyId,
  type PolicyVersionId,
} from '../kernel/index.js';
import { compilePolicyInTurns } from './compile-policy.js';
import type { CompiledPolicy } from './compiled-policy.js';
import { policyDecider } from './policy.decider.js';
import { findVersion, type Policy } from './policy.state.js';

export type LoadedPolicy =
  | { readonly isUsable: true; readonly policy: CompiledPolicy }
  /** `reason` is short and stable and goes into the decision (`policyUnavailable`). */
  | { readonly isUsable: false; readonly reason: 'version not found' | 'version does not compile' };

const DEFAULT_CAPACITY_VERSIONS = 2_000;

/**
 * Versions ready to decide. A version never changes, so it is read and compiled once; asking again costs no question to
 * the store.
 */
export class CompiledPolicies {
  private readonly loaded = new Map<PolicyVersionId, LoadedPolicy>();
  /** Asked for by many calls at once, a version is still compiled once. */
  private readonly loading = new Map<PolicyVersionId, Promise<LoadedPolicy>>();

  constructor(
    private readonly streams: FoldedStreams,
    private readonly meter: Meter = NO_METER,
    private readonly capacityVersions = DEFAULT_CAPACITY_VERSIONS,
  ) {}

  /**
   * The caller names a version that an organization's stream says is active. One that a newer build refuses is not
   * usable: the gate then denies with `policy_unavailable` and never guesses (rule POLICY-2).
   * @throws {StoreUnavailable} the log could not be read
   */
  async load(policy: PolicyId, version: PolicyVersionId): Promise<LoadedPolicy> {
    const known = this.loaded.get(version);
    if (known !== undefined) {
      // Re-inserting keeps the map in order of use, so the first key is the one to drop.
      this.loaded.delete(version);
      this.loaded.set(version, known);
      return known;
    }
    const underWay = this.loading.get(version);
    if (underWay !== undefined) return underWay;
    const loading = this.loadNew(policy, version).finally(() => this.loading.delete(version));
    this.loading.set(version, loading);
    return loading;
  }

  /** The version where this process has it ready; null where it must be loaded first. Asks nobody. */
  known(version: PolicyVersionId): LoadedPolicy | null {
    return this.loaded.get(version) ?? null;
  }

  private async loadNew(policy: PolicyId, version: PolicyVersionId): Promise<LoadedPolicy> {
    const { state } = await this.streams.load(streamRef(policyDecider, policy));
    const loaded = await this.read(state, version);
    this.meter.policyLoaded(loaded.isUsable);
    return loaded;
  }

  private async read(state: Policy, version: PolicyVersionId): Promise<LoadedPolicy> {
    const found = state.status === 'none' ? null : findVersion(state, version);
    if (found === null) return { isUsable: false, reason: 'version not found' };
    const result = await compilePolicyInTurns(found.source, 'stored');
    return this.keep(
      version,
      result.ok ? { isUsable: true, policy: result.policy } : { isUsable: false, reason: 'version does not compile' },
    );
  }

  private keep(version: PolicyVersionId, policy: LoadedPolicy): LoadedPolicy {
    this.loaded.set(version, policy);
    if (this.loaded.size > this.capacityVersions) {
      const [oldest] = this.loaded.keys();
      if (oldest !== undefined) this.loaded.delete(oldest);
    }
    return policy;
  }
}
