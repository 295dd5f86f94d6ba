import type { JsonObject } from '#libs/crypto';
import {
  derivedId,
  LATEST_API_VERSION,
  type AgentId,
  type EventId,
  type OrgId,
  type Timestamp,
  type TraceContext,
} from '../kernel/index.js';

/** Every type that a stream may be asked for. Some are told by nothing that this version records. */
export const PUBLIC_EVENT_TYPES = [
  'action.created',
  'action.decided',
  'action.executed',
  'action.witnessed',
  'deed.sealed',
  'approval.requested',
  'approval.countersigned',
  'approval.decided',
  'agent.stopped',
  'agent.resumed',
  'agent.suspended',
  'org.stopped',
  'org.started',
  'policy.activated',
  'connector.tools_changed',
  'decoder.degraded',
  'decoder.recovered',
  'decoder.alert',
  'webhook.test',
  'anomaly.detected',
  'suggestion.created',
] as const;
export type PublicEventType = (typeof PUBLIC_EVENT_TYPES)[number];

/** Of an event with a thin object, as webhooks send it (rule EVENT-5). */
export const PUBLIC_EVENT_MAX_BYTES = 16_384;

/** Ids, names of tools and states, and nothing else that agents, tools or people said (rule EVENT-5). */
export type ThinObject = JsonObject & { readonly object: string; readonly id: string };

/** What the API, its stream and webhooks call an event. */
export interface PublicEvent {
  readonly evt: EventId;
  readonly org: OrgId;
  readonly type: PublicEventType;
  /** Whose event it is: an agent's key sees no other's. Null where it is no agent's. */
  readonly agent: AgentId | null;
  /** Of the action; true where the event is about none. */
  readonly livemode: boolean;
  /** That the action's call belongs to; null where it named none, and where the event is about none. In no event object. */
  readonly trace: TraceContext | null;
  readonly thin: ThinObject;
  readonly at: Timestamp;
}

/** The public id of a recorded event: the same in every rebuild, and in every store that the event is brought to. */
export const publicIdOf = (recordedId: string): EventId => derivedId('evt', recordedId);

/** The event object with its thin object: what a webhook sends, whole. */
export const publicEventObject = (event: PublicEvent): JsonObject => eventObject(event, event.thin);

/** The same on a stream, which says whether `object` is the list's shape or the thin one. */
export const streamedEventObject = (event: PublicEvent, object: JsonObject, isHydrated: boolean): JsonObject => ({
  ...eventObject(event, object),
  hydrated: isHydrated,
});

const eventObject = ({ evt, org, type, livemode, at }: PublicEvent, object: JsonObject): JsonObject => ({
  object: 'event',
  id: evt,
  type,
  api_version: LATEST_API_VERSION,
  created_at: at,
  livemode,
  org,
  data: { object },
});
