import { CreateWebhook, DeleteWebhook, UpdateWebhook } from '#libs/domain/webhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Canary, leadsHere } from '../../libs/infra/src/egress/testing/canary.js';
import { type Dials, watchDials } from '../../libs/infra/src/egress/testing/dials.js';
import { ADDRESSES, SPELLED, spellingsOf } from '../support/forbidden-addresses.js';
import { HOOK_ORG, OPEN, type WebhookProcess, WebhookScene } from '../support/webhook-scene.js';

/** A name that leads elsewhere from one moment to the next. */
let answers: readonly string[] = ['93.184.216.34'];

let scene: WebhookScene;
let worker: WebhookProcess;
let canary: Canary;
let dials: Dials;

beforeAll(async () => {
  scene = await WebhookScene.start({
    settings: { isProduction: true },
    egress: { ...OPEN, allowPrivate: false, allowPlainText: false },
    resolve: () => Promise.resolve(answers),
  });
  worker = scene.process();
  canary = await Canary.listen();
  dials = watchDials(canary.port);
});
afterAll(async () => {
  dials?.end();
  await canary?.close();
  await scene.close();
});

const create = (url: string) =>
  worker.commands
    .execute(new CreateWebhook(HOOK_ORG, { url, events: ['*'], description: null }, scene.metadata()))
    .then(
      () => 'made',
      ({ code, param }: { code: string; param: string }) => `${code} ${param}`,
    );
const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);

describe('in production no forbidden address hears a byte', () => {
  it('of the making of an endpoint, however it is written', async () => {
    const hosts = [...ADDRESSES, ...SPELLED.flatMap(spellingsOf)];
    dials.take();
    for (const host of hosts)
      expect([host, await create(`https://${bracketed(host)}/hooks`)]).toEqual([host, 'destination_blocked url']);
    expect(hosts.length).toBeGreaterThan(200);
    expect([dials.take(), await canary.heard()]).toEqual([[], [0, 0]]);
    expect(await worker.endpoints.list(HOOK_ORG)).toEqual([]);
  });

  it('by a name of a network inside, in the clear, with a password, or at another port', async () => {
    for (const [url, verdict] of [
      ['https://metadata.google.internal/x', 'destination_blocked url'],
      ['https://printer.local', 'destination_blocked url'],
      ['https://localhost', 'destination_blocked url'],
      ['https://hooks.example.com:8443', 'destination_blocked url'],
      ['https://hooks.example.com:22', 'destination_blocked url'],
      ['http://hooks.example.com', 'validation_failed url'],
      ['https://user:secret@hooks.example.com', 'validation_failed url'],
    ] as const) {
      expect([url, await create(url)]).toEqual([url, verdict]);
    }
  });

  it('of a change of its URL', async () => {
    const { webhook } = await scene.endpoint(worker, { url: 'https://hooks.example.com' });
    const changed = worker.commands.execute(
      new UpdateWebhook(HOOK_ORG, webhook.id, { url: 'https://10.0.0.1' }, scene.metadata()),
    );
    await expect(changed).rejects.toMatchObject({ code: 'destination_blocked', param: 'url' });
    await worker.commands.execute(new DeleteWebhook(HOOK_ORG, webhook.id, scene.metadata()));
  });

  it('of a delivery, once its name leads there: alone, and as the one bad answer of many', async () => {
    const { webhook } = await scene.endpoint(worker, { url: 'https://hooks.example.com/in' });
    for (const bad of ADDRESSES) {
      for (const resolved of [[bad], ['93.184.216.34', bad]]) {
        answers = resolved;
        dials.take();
        const { status, errorCode, httpStatus } = await worker.asked.test(HOOK_ORG, webhook.id, scene.metadata());
        expect([bad, status, errorCode, httpStatus]).toEqual([bad, 'dead', 'destination_blocked', null]);
        expect([bad, dials.take()]).toEqual([bad, []]);
      }
    }
    expect(await canary.heard()).toEqual([0, 0]);
    expect(ADDRESSES.filter(leadsHere).length).toBeGreaterThan(2);
    answers = ['127.0.0.1'];
    await scene.happen();
    await scene.fold(worker);
    await scene.send(worker);
    const deliveries = await scene.deliveriesOf(worker, webhook);
    expect(deliveries.find(({ type }) => type !== 'webhook.test')).toMatchObject({
      status: 'retrying',
      attempt: 1,
      errorCode: 'destination_blocked',
    });
    expect(await canary.heard()).toEqual([0, 0]);
  });
});
