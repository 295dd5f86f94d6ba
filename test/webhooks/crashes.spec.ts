import { DeleteWebhook, UpdateWebhook } from '#libs/domain/webhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { placeFailpoints, type WebhookId } from '#libs/domain/kernel';
import { PostgresLeases, ProcessPresence } from '#libs/infra/leases';
import { deferred } from '../support/deferred.js';
import { headerOf, HOOK_ORG, ok, refused, type WebhookProcess, WebhookScene } from '../support/webhook-scene.js';

const HOUR_MS = 3_600_000;
/** By then a process that has said nothing has fallen silent. */
const SILENCE_MS = 60_000;
/** Between two looks for processes that are gone. */
const LOOK_MS = 500;

let scene: WebhookScene;
let survivor: WebhookProcess;

beforeAll(async () => {
  scene = await WebhookScene.start();
});
afterAll(() => scene.close());
beforeEach(async () => {
  survivor = scene.process();
  scene.answer = ok;
  for (const { id } of await survivor.endpoints.list(HOOK_ORG)) {
    await survivor.commands.execute(new DeleteWebhook(HOOK_ORG, id, scene.metadata()));
  }
  await scene.fold(survivor);
});
afterEach(() => placeFailpoints(null));

/** A process of that name is there until it is ended, as a kill ends it: its connection is gone. */
const presence = async (name: string): Promise<{ end(): Promise<void> }> => {
  const shown = new ProcessPresence(new PostgresLeases(scene.readModels.connectionString), name);
  const leaving = new AbortController();
  const present = shown.hold(leaving.signal, () => undefined);
  await vi.waitUntil(() => shown.shownAs !== null, { timeout: 20_000 });
  return {
    end: () => {
      leaving.abort();
      return present;
    },
  };
};

/** How often the receiver heard each event since. */
const heardSince = (index: number): readonly number[] => {
  const counts = new Map<string, number>();
  for (const request of scene.receiver.requests.slice(index)) {
    const event = headerOf(request, 'Service-Event-Id');
    counts.set(event, (counts.get(event) ?? 0) + 1);
  }
  return [...counts.values()];
};

/** A process gets as far as the point and says nothing any more; then everything that is due goes out from another one. */
const killedAt = async (point: string, doomed: WebhookProcess): Promise<void> => {
  const met = deferred();
  placeFailpoints({
    isArmed: (name) => name === point,
    hit: (name) => {
      if (name !== point) return Promise.resolve();
      met.resolve();
      return new Promise(() => undefined);
    },
  });
  void scene.fold(doomed).then(() => scene.send(doomed));
  await met.promise;
  placeFailpoints(null);
  doomed.dispatcher.close();
};

describe('a crash', () => {
  it.each<[string, number, number]>([
    // Nobody was told: the next sweep finds it. Sent once.
    ['hook.enqueue', 1, 1],
    ['hook.before_send', 1, 1],
    // The receiver has it already: at least once, with the same event id.
    ['hook.answered', 2, 1],
  ])('at %s loses no event, and sends it %i times under attempt %i', async (point, times, attempt) => {
    const { webhook } = await scene.endpoint(survivor);
    const evt = await scene.happen();
    const before = scene.receiver.requests.length;
    await killedAt(point, scene.process());
    await scene.fold(survivor);
    scene.clock.ms += SILENCE_MS;
    await scene.send(survivor);
    expect(heardSince(before)).toEqual([times]);
    expect(await scene.deliveriesOf(survivor, webhook)).toMatchObject([{ event: evt, status: 'delivered', attempt }]);
    // And nothing more of it, ever.
    scene.clock.ms += 24 * HOUR_MS;
    await scene.fold(scene.process());
    await scene.send(survivor);
    expect(heardSince(before)).toEqual([times]);
  });

  it('of a process that held four deliveries ends its claims when it was absent for a while, and no claim of a living one', async () => {
    const { webhook } = await scene.endpoint(survivor);
    for (let count = 0; count < 6; count += 1) await scene.happen();
    await scene.fold(survivor);
    const [doomed, living] = [await presence('doomed'), await presence('living')];
    const claimed = await scene
      .process('doomed')
      .deliveries.claim(webhook.id, scene.process('doomed').sender.termsOf(3));
    const held = await scene.process('living').deliveries.claim(webhook.id, scene.process('living').sender.termsOf(1));
    expect([claimed.length, held.length]).toEqual([3, 1]);
    const look = async (): Promise<readonly WebhookId[]> => {
      scene.clock.ms += LOOK_MS;
      return survivor.lost.end();
    };
    for (let looks = 0; looks < 5; looks += 1) expect(await look()).toEqual([]);
    await doomed.end();
    // A database that was away for a moment has lost the connection of everybody: who lives has it again by the next look.
    for (let looks = 0; looks < 3; looks += 1) expect(await look()).toEqual([]);
    expect(await look()).toEqual([webhook.id]);
    expect(await look()).toEqual([]);
    const before = scene.receiver.requests.length;
    await scene.send(survivor);
    // All but the one that is the living process's to send.
    expect(heardSince(before)).toEqual([1, 1, 1, 1, 1]);
    const rows = await scene.deliveriesOf(survivor, webhook);
    expect(rows.map(({ attempt }) => attempt)).toEqual(Array(6).fill(1));
    expect(rows.filter(({ status }) => status !== 'delivered')).toMatchObject([
      { event: held[0]?.event, status: 'delivering' },
    ]);
    await living.end();
  });

  it('is not what a process sees in itself when it could not show that it lives: it sends nothing of its own twice', async () => {
    const { webhook } = await scene.endpoint(survivor);
    await scene.happen();
    await scene.fold(survivor);
    const unshown = scene.process('unshown');
    expect(await unshown.deliveries.claim(webhook.id, unshown.sender.termsOf(1))).toHaveLength(1);
    const seenBy = async ({ lost }: WebhookProcess): Promise<boolean> => {
      const ended: WebhookId[] = [];
      for (let looks = 0; looks < 5; looks += 1) {
        scene.clock.ms += LOOK_MS;
        ended.push(...(await lost.end()));
      }
      return ended.includes(webhook.id);
    };
    expect({ byItself: await seenBy(unshown), byOthers: await seenBy(survivor) }).toEqual({
      byItself: false,
      byOthers: true,
    });
  });

  it('of every process that sends it ends a delivery with its last attempt, and never counts beyond', async () => {
    const { webhook } = await scene.endpoint(survivor);
    await scene.happen();
    await scene.fold(survivor);
    const attempts: number[] = [];
    for (let round = 0; round < 40; round += 1) {
      const [claimed] = await scene.process().deliveries.claim(webhook.id, survivor.sender.termsOf(4));
      if (claimed) attempts.push(claimed.attempt);
      scene.clock.ms += 13 * HOUR_MS;
    }
    // Each number once, and once more where its process fell silent.
    expect(attempts).toEqual([1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8]);
    expect(await scene.deliveriesOf(survivor, webhook)).toMatchObject([
      { status: 'dead', attempt: 8, errorCode: 'timeout' },
    ]);
  });

  it('between a fold and its next leaves what was folded, and nothing twice', async () => {
    const { webhook } = await scene.endpoint(survivor);
    const events = [await scene.happen(), await scene.happen(), await scene.happen()];
    const place = await survivor.fold.resume(scene.session);
    // Its answer was lost: whoever comes next cannot know, and asks the checkpoint.
    await scene.process().fold.fold(scene.session, place);
    await scene.process().fold.fold(scene.session, place);
    await scene.fold(scene.process());
    const before = scene.receiver.requests.length;
    await scene.send(survivor);
    expect((await scene.deliveriesOf(survivor, webhook)).map(({ event }) => event).toSorted()).toEqual(
      events.toSorted(),
    );
    expect(heardSince(before)).toEqual([1, 1, 1]);
  });

  it('before an endpoint is disabled leaves it to the next failure, and two that judge at once seal it once', async () => {
    scene.answer = refused;
    const { webhook } = await scene.endpoint(survivor);
    const recorded = await scene.recorded('WebhookDisabled');
    await scene.happen();
    await scene.fold(survivor);
    await scene.send(survivor);
    scene.clock.ms += 72 * HOUR_MS;
    await killedAt('hook.disable', scene.process());
    expect(await scene.recorded('WebhookDisabled')).toBe(recorded);
    for (let count = 0; count < 3; count += 1) await scene.happen();
    await scene.fold(survivor);
    scene.clock.ms += SILENCE_MS;
    await Promise.all([scene.send(survivor), scene.send(scene.process())]);
    expect(await scene.recorded('WebhookDisabled')).toBe(recorded + 1);
    expect(await survivor.endpoints.get(HOOK_ORG, webhook.id)).toMatchObject({ status: 'disabled' });
  });

  it('after an endpoint is disabled and before the row knows sends nothing more', async () => {
    scene.answer = refused;
    const { webhook } = await scene.endpoint(survivor);
    await scene.happen();
    await scene.fold(survivor);
    const doomed = scene.process();
    const [claimed] = await doomed.deliveries.claim(webhook.id, doomed.sender.termsOf(4));
    expect(claimed).toBeDefined();
    await survivor.commands.execute(new UpdateWebhook(HOOK_ORG, webhook.id, { status: 'disabled' }, scene.metadata()));
    const before = scene.receiver.requests.length;
    scene.clock.ms += SILENCE_MS;
    await scene.send(survivor);
    expect(heardSince(before)).toEqual([]);
    expect(await scene.deliveriesOf(survivor, webhook)).toMatchObject([{ status: 'cancelled' }]);
  });

  it('leaves a process that comes back late without a word: what it failed at is not taken, what arrived is', async () => {
    const { webhook } = await scene.endpoint(survivor);
    await scene.happen();
    await scene.fold(survivor);
    const late = scene.process();
    const [claimed] = await late.deliveries.claim(webhook.id, late.sender.termsOf(4));
    if (!claimed) throw new Error('nothing was due');
    scene.clock.ms += SILENCE_MS;
    const [again] = await survivor.deliveries.claim(webhook.id, survivor.sender.termsOf(4));
    expect(again).toMatchObject({ event: claimed.event, attempt: 1 });
    const before = scene.receiver.requests.length;
    // Thawed, it finds its claim gone before a byte leaves.
    await late.sender.send(claimed);
    expect(heardSince(before)).toEqual([]);
    const at = { nowMs: scene.clock.ms, aimedAtMs: 0 };
    const failure = { isDelivered: false, httpStatus: 500, errorCode: 'upstream_error' } as const;
    await late.deliveries.settle(claimed, failure, { status: 'dead' }, at);
    expect(await scene.deliveriesOf(survivor, webhook)).toMatchObject([{ status: 'delivering', attempt: 1 }]);
    await late.deliveries.settle(claimed, { isDelivered: true, httpStatus: 200 }, { status: 'delivered' }, at);
    expect(await scene.deliveriesOf(survivor, webhook)).toMatchObject([{ status: 'delivered', attempt: 1 }]);
  });

  it('that loses all rows of deliveries sends what is kept of public events once more, with the same ids', async () => {
    const { webhook } = await scene.endpoint(survivor);
    const evt = await scene.happen();
    await scene.fold(survivor);
    await scene.send(survivor);
    const before = scene.receiver.requests.length;
    await scene.pool.query(`truncate webhooks.deliveries, webhooks.endpoints, webhooks.checkpoint`);
    await scene.fold(scene.process());
    await scene.send(survivor);
    expect(heardSince(before)).toContain(1);
    expect(new Set(heardSince(before))).toEqual(new Set([1]));
    expect(await scene.deliveriesOf(survivor, webhook)).toMatchObject([{ event: evt, status: 'delivered' }]);
  });
});
