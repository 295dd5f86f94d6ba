import { createHmac } from 'node:crypto';
import { publicIdOf } from '#libs/domain/events';
import { groupedBy, membersOf, textOf, type Dossier } from '../dossier.js';
import type { Arrival, HeardWebhook, LoggedEvent, Members } from '../evidence.js';

/** What the world is told of, by docs/events.md; an outcome that comes late is none. */
export const TOLD_TYPES: Readonly<Record<string, string>> = {
  ActionSubmitted: 'action.created',
  ActionDecided: 'action.decided',
  EdgeReported: 'action.executed',
  EdgeLost: 'action.executed',
  ExecutionFinished: 'action.executed',
  ActionWitnessed: 'action.witnessed',
  WitnessAmended: 'action.witnessed',
  ApprovalRequested: 'approval.requested',
  ApprovalCountersigned: 'approval.countersigned',
  ApprovalDecided: 'approval.decided',
  ApprovalExpired: 'approval.decided',
  ActionCancelled: 'approval.decided',
  DeedSealed: 'deed.sealed',
  PolicyActivated: 'policy.activated',
  AgentStopped: 'agent.stopped',
  AgentSuspended: 'agent.suspended',
  AgentResumed: 'agent.resumed',
  OrganizationStopped: 'org.stopped',
  OrganizationStarted: 'org.started',
  ConnectorToolsRecorded: 'connector.tools_changed',
  ConnectorToolsAccepted: 'connector.tools_changed',
  DecoderDegraded: 'decoder.degraded',
  DecoderRecovered: 'decoder.recovered',
  DecoderAlerted: 'decoder.alert',
};

/** A public event that there must be, by the log. */
export interface DueEvent {
  readonly id: string;
  readonly type: string;
  readonly position: number;
}

/** In the order of the log. */
const dueEventsOf = (events: readonly LoggedEvent[]): readonly DueEvent[] => {
  const accepted = new Set(events.filter(({ type }) => type === 'ActionSubmitted').map(({ stream }) => stream));
  const silent = silentListsIn(events);
  return events.flatMap(({ id, type, stream, position }) => {
    const told = TOLD_TYPES[type];
    const isOfNoAction = stream.startsWith('action-') && !accepted.has(stream);
    return told === undefined || isOfNoAction || silent.has(id) ? [] : [{ id: publicIdOf(id), type: told, position }];
  });
};

/** Lists of tools that tell nothing: the first of a connector, and one of the same tools that accepts none of them. */
const silentListsIn = (events: readonly LoggedEvent[]): ReadonlySet<string> => {
  const lists = new Map<string, string>();
  const silent = new Set<string>();
  for (const { id, type, data } of events) {
    if (type !== 'ConnectorToolsRecorded') continue;
    const connector = textOf(data['connector']);
    const before = lists.get(connector);
    const list = listIn(data);
    if (before === undefined || (before === list && !hasSome(data['accepted']))) silent.add(id);
    lists.set(connector, list);
  }
  return silent;
};

/** Names and definitions, in whatever order the server gave them. */
const listIn = ({ tools }: Members): string => {
  const pairs = Array.isArray(tools) ? tools.map(membersOf).map(({ name, definition }) => [name, definition]) : [];
  return JSON.stringify(pairs.map((pair) => JSON.stringify(pair)).sort());
};

const hasSome = (list: unknown): boolean => Array.isArray(list) && list.length > 0;

/** What was recorded after an endpoint was made. */
const dueTo = ({ id }: HeardWebhook, events: readonly LoggedEvent[]): readonly DueEvent[] => {
  const made = events.find(({ type, data }) => type === 'WebhookCreated' && data['webhook'] === id);
  return dueEventsOf(events).filter(({ position }) => made !== undefined && position > made.position);
};

/** By the answer of its receiver. */
const isTaken = ({ answered }: Arrival): boolean => answered !== null && answered >= 200 && answered < 300;

export interface Undelivered {
  readonly webhook: string;
  readonly event: DueEvent;
}

/** Events that an endpoint has not taken. */
export const undelivered = ({
  events,
  told: { webhooks, arrivals },
}: Pick<Dossier['evidence'], 'events' | 'told'>): readonly Undelivered[] => {
  const taken = new Set(arrivals.filter(isTaken).map(({ webhook, event }) => `${webhook} ${event}`));
  return webhooks.flatMap((webhook) =>
    dueTo(webhook, events)
      .filter(({ id }) => !taken.has(`${webhook.id} ${id}`))
      .map((event) => ({ webhook: webhook.id, event })),
  );
};

/** Attempts of a delivery (rule HOOK-1). */
const ATTEMPTS_MAX = 8;
/** Where a receiver of these runs redirects to. */
export const REDIRECTED_PATH = '/redirected';

/** INV-09. Every endpoint takes every event since it was made, and takes none again unless a fault was between. */
export const webhooksArrive = ({ evidence }: Dossier): readonly string[] => {
  const { webhooks, arrivals } = evidence.told;
  const lost = undelivered(evidence).map(
    ({ webhook, event }) => `${event.type} ${event.id} was never taken by ${webhook}`,
  );
  const byDelivery = groupedBy(arrivals, ({ webhook, event }) => `${event} at ${webhook}`);
  const repeated = [...byDelivery].flatMap(([delivery, attempts]) => faultsOfDelivery(delivery, attempts));
  const due = new Map(webhooks.map((webhook) => [webhook.id, new Set(dueTo(webhook, evidence.events).map(idOfDue))]));
  const invented = [...byDelivery.values()].flatMap(([first]) =>
    first === undefined || due.get(first.webhook)?.has(first.event) === true
      ? []
      : [`${first.event} reached ${first.webhook}, and the log holds nothing of the kind since that was made`],
  );
  const redirected = arrivals.filter(({ path }) => path === REDIRECTED_PATH);
  return [
    ...lost,
    ...repeated,
    ...invented,
    ...unsigned(webhooks, arrivals),
    ...changedBodies(arrivals),
    ...redirected.map(({ event }) => `${event} followed a redirect`),
  ];
};

const idOfDue = ({ id }: DueEvent): string => id;

const faultsOfDelivery = (delivery: string, attempts: readonly Arrival[]): readonly string[] => {
  const firstTaken = attempts.findIndex(isTaken);
  const again = firstTaken < 0 ? [] : attempts.slice(firstTaken + 1);
  const isWithoutCause = attempts[firstTaken]?.isUnderFault === false && again.length > 0;
  return [
    ...(isWithoutCause ? [`${delivery} was taken, and came again though nothing was wrong`] : []),
    ...(attempts.length > ATTEMPTS_MAX ? [`${delivery} came ${attempts.length} times`] : []),
  ];
};

const unsigned = (webhooks: readonly HeardWebhook[], arrivals: readonly Arrival[]): readonly string[] => {
  const secrets = new Map(webhooks.map(({ id, secret }) => [id, secret]));
  return arrivals
    .filter(({ webhook, body, signature }) => !isGenuine(body, signature, secrets.get(webhook) ?? ''))
    .map(({ webhook, event }) => `${event} reached ${webhook} without a signature that is good`);
};

const isGenuine = (body: string, signature: string, secret: string): boolean => {
  const [, seconds = '', marks = ''] = /^t=(\d+)((?:,v1=[0-9a-f]{64})+)$/.exec(signature) ?? [];
  const expected = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return marks.split(',v1=').includes(expected);
};

const changedBodies = (arrivals: readonly Arrival[]): readonly string[] =>
  [...groupedBy(arrivals, ({ event }) => event)].flatMap(([event, told]) => {
    const bodies = [...new Set(told.map(({ body }) => body))];
    const named = textOf(membersOf(JSON.parse(bodies[0] ?? '{}'))['id']);
    return [
      ...(bodies.length > 1 ? [`${event} came with ${bodies.length} different bodies`] : []),
      ...(named === event ? [] : [`the body of ${event} names ${named || 'no event'}`]),
    ];
  });

/** INV-08. What a stream tells from a hello to the next resync is what the log tells, in its order, without a gap or a repeat. */
export const streamsTellTheLog = ({ evidence }: Dossier): readonly string[] => {
  const due = dueEventsOf(evidence.events);
  const placeOf = new Map(due.map(({ id }, place) => [id, place]));
  return evidence.told.streams.flatMap((heard, number) => {
    const places = heard.map((id) => placeOf.get(id));
    const start = places[0];
    const wrong = places.findIndex((place, index) => place === undefined || place !== (start ?? 0) + index);
    if (wrong < 0) return [];
    const expected = due[(start ?? 0) + wrong];
    const [said, wanted] = [heard[wrong] ?? '', expected === undefined ? 'nothing' : `${expected.type} ${expected.id}`];
    return [`stream ${number + 1} told ${said} in place ${wrong + 1}, where the log has ${wanted}`];
  });
};
