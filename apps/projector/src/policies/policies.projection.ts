import { categoryOf, idInStream, type EventEnvelope, type EventTypes } from '#libs/domain/kernel';
import { organizationDecider, type OrganizationEvent } from '#libs/domain/people';
import type { PolicyEvent } from '#libs/domain/policies';
import { PolicyRow, PolicySlotRow, PolicyVersionRow } from '#libs/infra/read-models';
import { keysToLoad, type ProjectedRows, type Projection } from '../projection.js';

const POLICY_EVENTS: EventTypes<PolicyEvent> = { PolicyCreated: true, PolicyVersionAdded: true };

/** Rows of the policy lists. Which version is in a slot is the organization's to say, what it is the policy's. */
export const policiesProjection: Projection = {
  name: 'policies',
  version: 1,
  follows: { policy: POLICY_EVENTS, org: organizationDecider.eventTypes },
  rowTypes: [PolicyRow, PolicyVersionRow, PolicySlotRow],

  async project(events, rows) {
    await projectPolicies(
      events.filter(({ recorded }) => categoryOf(recorded.stream) === 'policy'),
      rows,
    );
    await projectSlots(
      events.filter(({ recorded }) => categoryOf(recorded.stream) === 'org'),
      rows,
    );
  },
};

const projectPolicies = async (events: readonly EventEnvelope[], rows: ProjectedRows): Promise<void> => {
  const loaded = await rows.select(PolicyRow, keysToLoad(events, policyOf, beginsPolicy));
  const policies = new Map<string, PolicyRow>(loaded.map((row) => [row.id, row]));
  const versions = new Map<string, PolicyVersionRow>();
  for (const envelope of events) {
    const event = envelope.event as PolicyEvent;
    if (event.type === 'PolicyCreated') {
      const { policy: id, org, name, at: createdAt } = event.data;
      policies.set(id, { id, org, name, createdAt, latestVersionId: null });
    } else {
      const version = versionRow(event.data);
      versions.set(version.id, version);
      const policy = policies.get(version.policy);
      if (policy) policies.set(policy.id, { ...policy, latestVersionId: version.id });
    }
  }
  await rows.upsert(PolicyRow, [...policies.values()]);
  await rows.upsert(PolicyVersionRow, [...versions.values()]);
};

const policyOf = ({ recorded }: EventEnvelope): string => idInStream(recorded.stream);

const beginsPolicy = ({ recorded }: EventEnvelope): boolean => recorded.revision === 0;

const versionRow = (data: Extract<PolicyEvent, { type: 'PolicyVersionAdded' }>['data']): PolicyVersionRow => ({
  id: data.version_id,
  org: data.org,
  policy: data.policy,
  version: data.version,
  source: data.source,
  sourceBytes: Buffer.byteLength(data.source),
  sourceHash: data.source_hash,
  versionHash: data.version_hash,
  notes: data.notes,
  author: data.author,
  origin: data.origin,
  createdAt: data.at,
});

const projectSlots = async (events: readonly EventEnvelope[], rows: ProjectedRows): Promise<void> => {
  const slots = new Map<string, PolicySlotRow>();
  for (const envelope of events) {
    const event = envelope.event as OrganizationEvent;
    if (event.type !== 'PolicyActivated' && event.type !== 'PolicyDeactivated') continue;
    const { org, mode, policy, version_id: versionId, at: changedAt } = event.data;
    const content = event.type === 'PolicyActivated' ? { policy, versionId } : { policy: null, versionId: null };
    slots.set(`${org} ${mode}`, { org, mode, ...content, changedAt });
  }
  await rows.upsert(PolicySlotRow, [...slots.values()]);
};
