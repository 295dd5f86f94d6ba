import { agentDecider, type AgentKey, type KeyHolder, type LivingAgent } from '#libs/domain/agents';
import {
  START,
  streamRef,
  type AgentId,
  type EventStore,
  type FoldedStreams,
  type KeyId,
  type OrgId,
} from '#libs/domain/kernel';
import { organizationDecider, type LivingOrganization, type StoredKey } from '#libs/domain/people';
import type { PostgresKeyDirectory } from '#libs/infra/agents';
import { CliError, notFound, usage } from './cli-error.js';

const PAGE_EVENTS = 1_000;
/** How many streams are asked for at a time. */
const BATCH_STREAMS = 100;
const ORGANIZATIONS_NAMED = 5;

/** A key and who holds it: an agent, or the organization for an admin key. */
export type HeldKey =
  | { readonly kind: 'agent'; readonly org: OrgId; readonly agent: LivingAgent; readonly key: AgentKey }
  | { readonly kind: 'admin'; readonly org: OrgId; readonly key: StoredKey };

/** Told while the log is read. */
export type OnRead = (events: number) => void;

/**
 * Who is there, read from the log as decisions read it. Organizations and keys are found through the key directory, which
 * holds a row for every key before its event; agents, which may have no key, by reading the log through.
 */
export class Census {
  constructor(
    private readonly store: EventStore,
    private readonly streams: FoldedStreams,
    private readonly directory: PostgresKeyDirectory,
  ) {}

  async organizations(): Promise<readonly LivingOrganization[]> {
    const found = await inBatches(await this.directory.organizations(), async (org) => this.livingOrganization(org));
    return found.filter((organization) => organization !== null);
  }

  /** The one asked for, or the only one. @throws {CliError} not_found, usage (several), not_initialized (none) */
  async organization(wanted: OrgId | undefined): Promise<LivingOrganization> {
    if (wanted !== undefined) {
      const found = await this.livingOrganization(wanted);
      if (found) return found;
      throw notFound(`There is no organization ${wanted}. Run \`npm run ags -- org list\` to see them.`);
    }
    const all = await this.organizations();
    const [only] = all;
    if (all.length === 1 && only) return only;
    if (all.length === 0) {
      throw new CliError(
        'not_initialized',
        'There is no organization yet. Run `npm run ags -- init` to make the first.',
      );
    }
    const named = all.slice(0, ORGANIZATIONS_NAMED).map(({ org }) => org);
    const rest = all.length > named.length ? `, and ${all.length - named.length} more` : '';
    throw usage(`There are several organizations: name one with --org (${named.join(', ')}${rest}).`);
  }

  /** @throws {CliError} not_found: no such agent, or in another organization than the one named */
  async agent(id: AgentId, org: OrgId | undefined): Promise<LivingAgent> {
    const found = await this.livingAgent(id);
    if (found && (org === undefined || found.org === org)) return found;
    throw notFound(`There is no agent ${id}. Run \`npm run ags -- agents list\` to see them.`);
  }

  /** Every agent, in the order of their making. */
  async agents(onRead: OnRead): Promise<readonly LivingAgent[]> {
    const ids: AgentId[] = [];
    let read = 0;
    for (let after = START; ;) {
      const page = await this.store.readAll(after, PAGE_EVENTS);
      for (const { stream, revision } of page) {
        if (revision === 0 && stream.startsWith(`${agentDecider.category}-`)) {
          ids.push(stream.slice(agentDecider.category.length + 1) as AgentId);
        }
      }
      const last = page.at(-1);
      if (!last) break;
      after = last.position;
      read += page.length;
      onRead(read);
    }
    const found = await inBatches(ids, async (id) => this.livingAgent(id));
    return found.filter((agent) => agent !== null);
  }

  /** Of one organization or of all: admin keys first, then agent by agent, oldest first. */
  async keys(org: OrgId | undefined): Promise<readonly HeldKey[]> {
    const holders = (await this.directory.holders()).filter((holder) => org === undefined || holder.org === org);
    return (await inBatches(holders, async (holder) => this.keysOf(holder))).flat();
  }

  /** @throws {CliError} not_found */
  async key(id: KeyId): Promise<HeldKey> {
    const found = (await this.keys(undefined)).find(({ key }) => key.key === id);
    if (found) return found;
    throw notFound(`There is no key ${id}. Run \`npm run ags -- keys list\` to see them.`);
  }

  async keysOf(holder: KeyHolder): Promise<readonly HeldKey[]> {
    if (holder.kind === 'org') {
      const organization = await this.livingOrganization(holder.org);
      const keys = organization ? [...organization.adminKeys.values()] : [];
      return keys.map((key) => ({ kind: 'admin', org: holder.org, key }));
    }
    const agent = await this.livingAgent(holder.agent);
    return agent ? [...agent.keys.values()].map((key) => ({ kind: 'agent', org: holder.org, agent, key })) : [];
  }

  private async livingOrganization(org: OrgId): Promise<LivingOrganization | null> {
    const { state } = await this.streams.load(streamRef(organizationDecider, org));
    return state.status === 'none' ? null : state;
  }

  private async livingAgent(agent: AgentId): Promise<LivingAgent | null> {
    const { state } = await this.streams.load(streamRef(agentDecider, agent));
    return state.status === 'none' ? null : state;
  }
}

/** In order; a few at a time, so that a large deployment does not queue thousands of reads at once. */
const inBatches = async <Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> => {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += BATCH_STREAMS) {
    results.push(...(await Promise.all(items.slice(from, from + BATCH_STREAMS).map(work))));
  }
  return results;
};
