import { CreateOrganization } from '#libs/domain/agents/handlers';
import { copyFile } from 'node:fs/promises';
import {
  appendEvents,
  type CommandMetadata,
  type EventStore,
  FoldedStreams,
  OPERATOR,
  type OrgId,
  type Position,
  type RecordedEvent,
  START,
  timestampOf,
} from '#libs/domain/kernel';
import { Sealer } from '#libs/domain/ledger';
import type { Deployment } from '#libs/infra/deployment';
import { sealedHeadsPath } from '#libs/infra/ledger';
import { finished, started, testId, witnessed } from '../support/given-log.js';
import { profileOf } from '../support/log-profile.js';
import { openBenchLog } from './bench-stores.js';
import { say } from './figure.js';

/** Of each organization and round: enough that its deeds are sealed several at once, and that organizations take turns. */
const ACTIONS_A_ROUND = 8;
const AT_ONCE = 200;
const PAGE = 1_000;

export interface BigLogSize {
  readonly events: number;
  /** The one that the deployment has is among them. */
  readonly organizations: number;
}

/**
 * Fills the log of a deployment that nobody else runs: organizations made as an operator makes them, actions that take
 * turns, and their deeds, sealed by the service's own sealer. Nothing of it came through the api.
 *
 * @param oldHeadsPath gets what was remembered of the ledgers when half of the log was there
 */
export const fillBigLog = async (
  deployment: Deployment,
  own: OrgId,
  size: BigLogSize,
  oldHeadsPath: string,
): Promise<void> => {
  const { config, database, keyRing, clock, bus } = deployment;
  const store = openBenchLog({ eventStoreUrl: config.eventStoreUrl, connectionString: database.connectionString });
  const heads = await deployment.openSealedHeads();
  const { appends, keysInForce } = profileOf(store);
  const signing = { keysInForce: keysInForce(new FoldedStreams(store)), keyRing, clock };
  const sealer = new Sealer({ store, appends, heads, bus, ...signing });
  try {
    const orgs = [own, ...(await makeOrganizations(deployment, size.organizations - 1))];
    let [sealedUpTo, number, count, isHalf] = [START, 0, 0, false];
    while (count < size.events) {
      await appendActions(store, orgs, number);
      number += orgs.length * ACTIONS_A_ROUND;
      const unsealed = await readAfter(store, sealedUpTo);
      const deeds = await sealAll(sealer, unsealed);
      sealedUpTo = unsealed.at(-1)?.position ?? sealedUpTo;
      // The deeds of the round before came with what was read.
      count += unsealed.length;
      say(`  ${count + deeds}`);
      if (isHalf || count < size.events / 2) continue;
      isHalf = true;
      await copyFile(sealedHeadsPath(config.stateDir), oldHeadsPath);
    }
  } finally {
    await heads.close();
    await store.close();
  }
};

const makeOrganizations = async (deployment: Deployment, count: number): Promise<readonly OrgId[]> => {
  const names = Array.from({ length: count }, (_, index) => `Bench ${index + 1}`);
  const changes = await someAtOnce(names, (name) =>
    deployment.commands.execute(new CreateOrganization(name, metadataOf(null, name))),
  );
  return changes.map(({ organization }) => organization.org);
};

/** An action of each organization, then the next of each. */
const appendActions = async (store: EventStore, orgs: readonly OrgId[], before: number): Promise<void> => {
  const turns = Array.from({ length: ACTIONS_A_ROUND }, () => orgs).flat();
  await someAtOnce(turns, (org, index) => {
    const number = before + index + 1;
    const action = testId('act', number);
    const events = [...started(number, { org }), finished(number), witnessed(number)];
    return appendEvents(store, `action-${action}`, 'no_stream', events, metadataOf(org, action));
  });
};

const readAfter = async (store: EventStore, after: Position): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = [];
  for (let last = after; ;) {
    const page = await store.readAll(last, PAGE);
    events.push(...page);
    if (page.length < PAGE) return events;
    last = page.at(-1)?.position ?? last;
  }
};

/** @returns how many deeds the events asked for */
const sealAll = async (sealer: Sealer, events: readonly RecordedEvent[]): Promise<number> => {
  const works = [...(await sealer.workIn(events))];
  await someAtOnce(works, ([org, { requests, fault }]) => {
    if (fault) throw fault;
    return sealer.seal(org, requests);
  });
  return works.reduce((sum, [, { requests }]) => sum + requests.length, 0);
};

/** In their order. */
const someAtOnce = async <Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> => {
  const results: Result[] = [];
  for (let first = 0; first < items.length; first += AT_ONCE) {
    const some = items.slice(first, first + AT_ONCE);
    results.push(...(await Promise.all(some.map((item, index) => work(item, first + index)))));
  }
  return results;
};

const metadataOf = (org: OrgId | null, commandId: string): CommandMetadata => ({
  org,
  actor: OPERATOR,
  requestId: null,
  commandId,
  now: timestampOf(Date.now()),
});
