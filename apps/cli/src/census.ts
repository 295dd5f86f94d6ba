import { agentDecider, type AgentKey, type KeyHolder, type LivingAgent, type NamedKey } from '#libs/domain/agents';
import {
  parseId,
  START,
  streamRef,
  type AgentId,
  type EventStore,
  type FoldedStreams,
  type KeyId,
  type OrgId,
} from '#libs/domain/kernel';
import { organizationDecider, type AdminKey, type LivingOrganization } from '#libs/domain/people';
import type { PostgresKeyDirectory } from '#libs/infra/agents';
import { CliError, notFound, usage } from './cli-error.js';
import { type Kind, onlyOne } from './named.js';

const PAGE_EVENTS = 1_000;
/** How many streams are asked for at a time. */
const BATCH_STREAMS = 100;
const ORGANIZATIONS_NAMED = 5;
const AGENT: Kind = { one: 'agent', several: 'agents', toSee: 'Run `npm run ags -- agents list` to see them.' };

/** A key and who holds it: an agent, or the organization for an admin key. */
export type HeldKey =
  | { readonly kind: 'agent'; readonly org: OrgId; readonly agent: LivingAgent; readonly key: AgentKey }
  | { readonly kind: 'admin'; readonly org: OrgId; readonly key: AdminKey };

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

  /**
   * By its id or its name, which never changes.
   * @throws {CliError} not_found: no such agent, or in another organization than the one named; usage: several of this name
   */
  async agent(named: string, org: OrgId | undefined): Promise<LivingAgent> {
    const id = parseId('agt', named);
    const known = id === null ? await this.agentsNamed(named) : [await this.livingAgent(id)];
    const found = known.filter((agent) => agent !== null).filter((agent) => org === undefined || agent.org === org);
    return onlyOne(found, AGENT, id ?? JSON.stringify(named), ({ agent }) => agent);
  }

  /**
   * Whoever stops an agent is in a hurry: those that ever had a key are known without reading the log, and no other can call.
   * Where none of them has the name, the log is read.
   */
  private async agentsNamed(name: string): Promise<readonly LivingAgent[]> {
    const holders = (await this.directory.holders()).filter((holder) => holder.kind === 'agent');
    const keyed = await inBatches(holders, async ({ agent }) => this.livingAgent(agent));
    const found = keyed.filter((agent) => agent?.name === name).filter((agent) => agent !== null);
    if (found.length > 0) return found;
    return (await this.agents(() => undefined)).filter((agent) => agent.name === name);
  }

  /** Every agent, in the order of their making. */
  async agents(onRead: OnRead): Promise<readonly LivingAgent[]> {
    const ids = (await this.idsOf(agentDecider.category, onRead)) as readonly AgentId[];
    const found = await inBatches(ids, async (id) => this.livingAgent(id));
    return found.filter((agent) => agent !== null);
  }

  /** Of all streams of a category, in the order of their making: the log is read through for their first events. */
  async idsOf(category: string, onRead: OnRead = () => undefined): Promise<readonly string[]> {
    const ids: string[] = [];
    let read = 0;
    for (let after = START; ;) {
      const page = await this.store.readAll(after, PAGE_EVENTS);
      for (const { stream, revision } of page) {
        if (revision === 0 && stream.startsWith(`${category}-`)) ids.push(stream.slice(category.length + 1));
      }
      const last = page.at(-1);
      if (!last) break;
      after = last.position;
      read += page.length;
      onRead(read);
    }
    return ids;
  }

  /** Of one organization or of all: admin keys first, then agent by agent, oldest first. */
  async keys(org: OrgId | undefined): Promise<readonly HeldKey[]> {
    const holders = (await this.directory.holders()).filter((holder) => org === undefined || holder.org === org);
    return (await inBatches(holders, async (holder) => this.keysOf(holder))).flat();
  }

  /** By its id, or by how it begins. @throws {CliError} not_found */
  async key(named: NamedKey): Promise<HeldKey> {
    const found = 'id' in named ? await this.keyOfId(named.id) : await this.keyOfPrefix(named.prefix);
    if (found) return found;
    const shown = 'id' in named ? named.id : `that begins with ${named.prefix}`;
    throw notFound(`There is no key ${shown}. Run \`npm run ags -- keys list\` to see them.`);
  }

  private async keyOfId(id: KeyId): Promise<HeldKey | undefined> {
    return (await this.keys(undefined)).find(({ key }) => key.key === id);
  }

  private async keyOfPrefix(prefix: string): Promise<HeldKey | undefined> {
    const holder = await this.directory.find(prefix);
    return holder === null ? undefined : (await this.keysOf(holder)).find(({ key }) => key.prefix === prefix);
  }

  /** When each was last used, in Unix milliseconds, by its prefix. */
  lastUses(held: readonly HeldKey[]): Promise<ReadonlyMap<string, number>> {
    return this.directory.lastUses(held.map(({ key }) => key.prefix));
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
export const inBatches = async <Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> => {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += BATCH_STREAMS) {
    results.push(...(await Promise.all(items.slice(from, from + BATCH_STREAMS).map(work))));
  }
  return results;
};
