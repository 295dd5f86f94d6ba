import {
  type BundleEvidence,
  canonicalBytes,
  type DeedBody,
  DeedBodyError,
  type Digest,
  digestOf,
  encodePayloadLine,
  type JsonValue,
  parseDeedBody,
  type PayloadLine,
  type SealedDeed,
} from '#libs/crypto';
import type { AgentEvent } from '../agents/index.js';
import type { ConnectorEvent } from '../connectors/index.js';
import { decodeEvent, type DomainEvent, type EventStore, type OrgId, streamOf, type UserId } from '../kernel/index.js';
import type { NamesOfPeople } from '../people/index.js';
import type { PolicyEvent } from '../policies/index.js';
import { type DeedEvidence, type Opening, readable } from './deed-evidence.js';
import { NamedInDeeds } from './named-in-deeds.js';

const INTENT_MEMBER = 'who.intent_hash';
const DATA_MEMBER = 'admin.data_digest';

/**
 * The evidence of one export, in lines of payloads.ndjson: what each deed stands for, the documents that it names, and, for
 * a reader who has no more of the chain, names, texts and keys that were made before its first deed.
 */
export class ExportedEvidence implements BundleEvidence {
  readonly #named = new NamedInDeeds();

  constructor(
    private readonly org: OrgId,
    private readonly evidence: DeedEvidence,
    private readonly store: EventStore,
    private readonly people: Pick<NamesOfPeople, 'of'>,
  ) {}

  /** @throws {StoreUnavailable} */
  async of(deed: SealedDeed): Promise<readonly Uint8Array[]> {
    const body = bodyOf(deed);
    // Its members are not known; the bundle's own verdict is that it is broken here.
    if (body === null) return [];
    this.#named.see(body);
    const openings = await this.evidence.of(body);
    const documents: PayloadLine[] = [];
    const lines: PayloadLine[] = [];
    for (const opening of openings) {
      if (opening.member === INTENT_MEMBER && 'value' in opening) documents.push(this.intentOf(body, opening));
      else lines.push(lineOf(body.seq, opening));
      if (opening.member === DATA_MEMBER && 'value' in opening) {
        this.#named.seeData(body, opening.value);
        documents.push(...(await this.documentsOf(body)));
      }
    }
    return [...lines, ...documents].map(encodePayloadLine);
  }

  /** @throws {StoreUnavailable} */
  async rest(): Promise<readonly Uint8Array[]> {
    const lines = [...(await this.told()), ...(await this.names())];
    return lines.map(encodePayloadLine);
  }

  private intentOf({ seq, who }: DeedBody, opening: Extract<Opening, { value: JsonValue }>): PayloadLine {
    const { commitment, value, signature = null } = opening;
    this.#named.seeIntent(who.agent, value);
    return { kind: 'document', seq, document: 'intent', digest: commitment, signature, value: canonicalBytes(value) };
  }

  /** What a change names by its digest: the text of a policy, the configuration of a connector. */
  private async documentsOf({ seq, source, admin }: DeedBody): Promise<readonly PayloadLine[]> {
    if (admin === null || !DOCUMENTED.includes(admin.action)) return [];
    const [recorded] = await this.store.readStream(source.stream, { from: source.revision, limit: 1 });
    if (recorded?.revision !== source.revision) return [];
    const document = readable(() => documentIn(decodeEvent<PolicyEvent | ConnectorEvent>(recorded).event));
    return document === null ? [] : [{ kind: 'document' as const, seq, signature: null, ...document }];
  }

  private async told(): Promise<readonly PayloadLine[]> {
    const lines: (PayloadLine & { readonly kind: 'told' })[] = [];
    for (const [agent, kids] of this.#named.untoldIntentKeys) {
      for (const { type, data } of await this.eventsOf<AgentEvent>('agent', agent)) {
        if (type !== 'AgentIntentKeyAdded' || !kids.has(data.kid)) continue;
        const value = readable(() => canonicalBytes({ agent, public_key: data.public_key }));
        if (value === null) continue;
        lines.push({ kind: 'told', document: 'intent_key', id: data.kid, digest: digestOf(value), value });
      }
    }
    for (const [policy, versions] of this.#named.untoldVersions) {
      for (const { type, data } of await this.eventsOf<PolicyEvent>('policy', policy)) {
        if (type !== 'PolicyVersionAdded' || !versions.has(data.version_id)) continue;
        const text = readable(() => policyText(data));
        if (text !== null) lines.push({ kind: 'told', id: data.version_id, ...text });
      }
    }
    return inOrder(lines, ({ document, id }) => `${document} ${id}`);
  }

  private async names(): Promise<readonly PayloadLine[]> {
    const { agents, connectors, policies, users } = this.#named;
    const people = await this.people.of(this.org, [...users] as UserId[]);
    const lines = [
      ...(await this.firstNames<AgentEvent>('agent', agents)),
      ...[...connectors].map(([id, name]) => ({ kind: 'name' as const, type: 'connector', id, name })),
      ...(await this.firstNames<PolicyEvent>('policy', policies)),
      ...[...people].map(([id, name]) => ({ kind: 'name' as const, type: 'user', id, name })),
    ];
    return inOrder(lines, ({ type, id }) => `${type} ${id}`);
  }

  /** The first event of each stream tells its name. */
  private async firstNames<Event extends DomainEvent>(category: string, ids: Iterable<string>) {
    const lines: (PayloadLine & { readonly kind: 'name' })[] = [];
    for (const id of ids) {
      const [recorded] = await this.store.readStream(streamOf(category, id), { limit: 1 });
      const data =
        recorded && readable(() => decodeEvent<Event>(recorded).event.data as { readonly name?: string } | null);
      if (typeof data?.name === 'string') lines.push({ kind: 'name', type: category, id, name: data.name });
    }
    return lines;
  }

  private async eventsOf<Event extends DomainEvent>(category: string, id: string): Promise<readonly Event[]> {
    const recorded = await this.store.readStream(streamOf(category, id));
    return recorded.flatMap((event) => readable(() => [decodeEvent<Event>(event).event]) ?? []);
  }
}

const bodyOf = ({ body }: SealedDeed): DeedBody | null => {
  try {
    return parseDeedBody(body);
  } catch (error) {
    if (error instanceof DeedBodyError) return null;
    throw error;
  }
};

/** What the event of a change names by its digest. */
const documentIn = (event: PolicyEvent | ConnectorEvent): NamedDocument | null => {
  if (event.type === 'PolicyVersionAdded') return policyText(event.data);
  if (event.type !== 'ConnectorCreated' && event.type !== 'ConnectorUpdated') return null;
  const { config, config_hash: digest } = event.data;
  if (config === undefined || digest === undefined) return null;
  return { document: 'connector_config', digest, value: canonicalBytes(config) };
};

interface NamedDocument {
  readonly document: string;
  readonly digest: Digest;
  readonly value: Uint8Array;
}

const DOCUMENTED: readonly string[] = ['policy.version_added', 'connector.created', 'connector.updated'];

const policyText = (data: { readonly source: string; readonly source_hash: Digest }): NamedDocument => ({
  document: 'policy_source',
  digest: data.source_hash,
  value: canonicalBytes(data.source),
});

const lineOf = (seq: number, opening: Opening): PayloadLine => {
  const { member, commitment } = opening;
  if ('absent' in opening) return { kind: 'taken', seq, member, commitment, absent: opening.absent };
  return { kind: 'opened', seq, member, commitment, salt: opening.salt, value: canonicalBytes(opening.value) };
};

/** By the order of the format page; one of each. */
const inOrder = <Line>(lines: readonly Line[], nameOf: (line: Line) => string): readonly Line[] => {
  const byName = new Map(lines.map((line) => [nameOf(line), line]));
  return [...byName].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, line]) => line);
};
