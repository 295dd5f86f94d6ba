import type { JsonObject } from '#libs/crypto';
import type { AgentEvent } from '../agents/index.js';
import {
  type ChangedTool,
  changedTools,
  type ConnectorEvent,
  type DiscoveredTools,
  discoveredStatusOf,
  type ToolsBrief,
} from '../connectors/index.js';
import type { ActionBrief, ActionEvent, BriefApproval } from '../gate/index.js';
import type { LedgerEvent } from '../ledger/index.js';
import type { OrganizationEvent } from '../people/index.js';
import { type DecoderEvent, decoderStatusOf } from '../witness/index.js';
import type { PublicEvent, PublicEventType, ThinObject } from './public-event.js';

/** What an event of the log tells the world. Each tells one thing or nothing. */
export type Told = Omit<PublicEvent, 'evt'>;

type TypeOf<Recorded extends { type: string }> = Readonly<Record<Recorded['type'], PublicEventType | null>>;

/** Complete, or it does not compile: whoever adds an event says here what the world hears of it. */
const TOLD_BY_ACTIONS: TypeOf<ActionEvent> = {
  ActionSubmitted: 'action.created',
  ActionDecided: 'action.decided',
  ApprovalRequested: 'approval.requested',
  ApprovalCountersigned: 'approval.countersigned',
  ApprovalDecided: 'approval.decided',
  ApprovalExpired: 'approval.decided',
  ActionCancelled: 'approval.decided',
  EdgeAuthorized: null,
  EdgeReported: 'action.executed',
  EdgeLost: 'action.executed',
  ExecutionReady: null,
  ExecutionStarted: null,
  ExecutionProgress: null,
  WitnessReported: null,
  ExecutionFinished: 'action.executed',
  ActionWitnessed: 'action.witnessed',
  WitnessAmended: 'action.witnessed',
  LateReport: null,
  SubmissionAbandoned: null,
};

/** @param after the action as this event left it; an event that changed nothing is never asked about */
export const toldByAction = ({ type, data }: ActionEvent, after: ActionBrief): Told | null => {
  const told = TOLD_BY_ACTIONS[type];
  if (told === null) return null;
  const { org, agent, livemode, trace = null } = after;
  const thin = told.startsWith('approval.') ? thinApproval(after) : thinAction(after);
  return { org, type: told, agent, livemode, trace, thin, at: data.at };
};

const thinAction = ({ action: id, state }: ActionBrief): ThinObject => ({ object: 'action', id, state });

const thinApproval = ({ action, agent, tool, approval }: ActionBrief): ThinObject => {
  const { id, status, terms, signatures } = approval as BriefApproval;
  return {
    object: 'approval',
    id,
    status,
    action,
    agent,
    tool,
    rule_id: terms.rule_id,
    required: terms.required,
    countersigned: new Set(signatures.map(({ by }) => by)).size,
    // An approval is over before its action has a deed.
    deed: null,
  };
};

const TOLD_BY_LEDGERS: PublicEventType = 'deed.sealed';

/** @param brief of the action that the deed is about; null where it is about none */
export const toldByLedger = ({ data }: LedgerEvent, brief: ActionBrief | null): Told => {
  const { org, deed: id, seq, kind, action, issued_at } = data;
  const thin = { object: 'deed_summary', id, seq, kind, action, issued_at };
  const whose = kind === 'admin' ? null : brief;
  return {
    org,
    type: TOLD_BY_LEDGERS,
    agent: whose?.agent ?? null,
    livemode: whose?.livemode ?? true,
    trace: whose?.trace ?? null,
    thin,
    at: issued_at,
  };
};

const TOLD_BY_AGENTS: Readonly<Record<AgentEvent['type'], readonly [PublicEventType, status: string] | null>> = {
  AgentRegistered: null,
  AgentKeyCreated: null,
  AgentKeyRolled: null,
  AgentKeyRevoked: null,
  AgentIntentKeyAdded: null,
  AgentIntentKeyRemoved: null,
  AgentIntentModeSet: null,
  AgentLabelsSet: null,
  AgentBudgetsSet: null,
  AgentStopped: ['agent.stopped', 'stopped'],
  AgentSuspended: ['agent.suspended', 'suspended'],
  AgentResumed: ['agent.resumed', 'active'],
};

export const toldByAgent = ({ type, data: { org, agent, at } }: AgentEvent): Told | null => {
  const told = TOLD_BY_AGENTS[type];
  if (told === null) return null;
  const [said, status] = told;
  return { org, type: said, agent, livemode: true, trace: null, thin: { object: 'agent', id: agent, status }, at };
};

const TOLD_BY_ORGANIZATIONS: TypeOf<OrganizationEvent> = {
  OrganizationCreated: null,
  OrganizationUpdated: null,
  OrganizationStopped: 'org.stopped',
  OrganizationStarted: 'org.started',
  AdminKeyCreated: null,
  AdminKeyRolled: null,
  AdminKeyRevoked: null,
  PasskeyRegistered: null,
  PasskeyRemoved: null,
  PolicyActivated: 'policy.activated',
  PolicyDeactivated: null,
  MemberInvited: null,
  MemberJoined: null,
  MemberRoleChanged: null,
  MemberRemoved: null,
  MemberReferencesChanged: null,
  MemberAddressSet: null,
  LoginLinkIssued: null,
};

export const toldByOrganization = (event: OrganizationEvent): Told | null => {
  const told = TOLD_BY_ORGANIZATIONS[event.type];
  if (told === null) return null;
  const { org, at } = event.data;
  return { org, type: told, agent: null, livemode: true, trace: null, thin: thinOrganization(event), at };
};

const thinOrganization = (event: OrganizationEvent): ThinObject => {
  if (event.type === 'PolicyActivated') {
    const { policy: id, version, mode } = event.data;
    return { object: 'policy', id, version, mode };
  }
  const status = event.type === 'OrganizationStopped' ? 'stopped' : 'active';
  return { object: 'organization', id: event.data.org, status };
};

const TOLD_BY_CONNECTORS: TypeOf<ConnectorEvent> = {
  ConnectorCreated: null,
  ConnectorUpdated: null,
  ConnectorDisabled: null,
  ConnectorDeleted: null,
  ConnectorCredentialsUpdated: null,
  ConnectorCredentialsRemoved: null,
  ConnectorToolsRecorded: 'connector.tools_changed',
  ConnectorToolsAccepted: 'connector.tools_changed',
};

/**
 * The first list of a connector changes nothing that could be called, and one in which the server only speaks another
 * revision of its protocol changes no tool: both tell nothing.
 * @param before the connector as it was before this event; null where there was none
 */
export const toldByConnector = (
  { type, data: { org, connector: id, name, at } }: ConnectorEvent,
  before: ToolsBrief | null,
  after: ToolsBrief | null,
): Told | null => {
  const told = TOLD_BY_CONNECTORS[type];
  if (told === null || !before?.tools || !after?.tools) return null;
  const changed = changedTools(before.tools, after.tools);
  if (changed.length === 0) return null;
  const thin = { object: 'connector', id, name, ...thinTools(changed), counts: countsOf(after.tools) };
  return { org, type: told, agent: null, livemode: true, trace: null, thin, at };
};

/** With the longest names that MCP allows they take half of {@link PUBLIC_EVENT_MAX_BYTES}. */
const TOLD_TOOLS_MAX = 50;
type ToolStatus = ChangedTool['status'];
/** Those that wait for a person come first. */
const PLACES: Readonly<Record<ToolStatus, number>> = { changed: 0, new: 1, gone: 2, accepted: 3 };

const thinTools = (changed: readonly ChangedTool[]) => ({
  tools: changed.toSorted((one, other) => PLACES[one.status] - PLACES[other.status]).slice(0, TOLD_TOOLS_MAX),
  has_more: changed.length > TOLD_TOOLS_MAX,
});

const countsOf = ({ tools }: DiscoveredTools): Record<ToolStatus, number> => {
  const counts = { accepted: 0, new: 0, changed: 0, gone: 0 };
  for (const tool of tools) counts[discoveredStatusOf(tool)] += 1;
  return counts;
};

const TOLD_BY_DECODERS: TypeOf<DecoderEvent> = {
  DecoderAttached: null,
  DecoderDetached: null,
  DecoderDegraded: 'decoder.degraded',
  DecoderRecovered: 'decoder.recovered',
  DecoderAlerted: 'decoder.alert',
};

/** A decoder has no id of its own: it is its connector's. */
export const toldByDecoder = (event: DecoderEvent): Told | null => {
  const told = TOLD_BY_DECODERS[event.type];
  if (told === null) return null;
  const { org, connector, name, at } = event.data;
  const thin = { object: 'decoder', id: connector, connector, name, ...thinDecoder(event) };
  return { org, type: told, agent: null, livemode: true, trace: null, thin, at };
};

const thinDecoder = (event: DecoderEvent): JsonObject => {
  if (event.type !== 'DecoderAlerted') {
    const reason = event.type === 'DecoderDegraded' ? event.data.reason : null;
    return { status: decoderStatusOf(reason), reason };
  }
  const { kind, table = null, rows = null, xid, role = null } = event.data;
  return { kind, table, rows, xid, role };
};

/** Every type that some event of the log tells. */
export const TOLD_EVENT_TYPES: ReadonlySet<PublicEventType> = new Set(
  [
    ...Object.values(TOLD_BY_ACTIONS),
    ...Object.values(TOLD_BY_AGENTS).map((told) => told && told[0]),
    ...Object.values(TOLD_BY_ORGANIZATIONS),
    ...Object.values(TOLD_BY_CONNECTORS),
    ...Object.values(TOLD_BY_DECODERS),
    TOLD_BY_LEDGERS,
  ].filter((type) => type !== null),
);
