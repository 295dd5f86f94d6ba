import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { CreateWebhook, DeleteWebhook, RollWebhookSecret, WebhookSecretSweeper } from '#libs/domain/webhooks';
import { headerOf, HOOK_ORG, signatureOf, type WebhookProcess, WebhookScene } from '../support/webhook-scene.js';

const HOUR_MS = 3_600_000;

let scene: WebhookScene;
let worker: WebhookProcess;

beforeAll(async () => {
  scene = await WebhookScene.start();
});
afterAll(() => scene.close());
beforeEach(async () => {
  worker = scene.process();
  for (const { id } of await worker.endpoints.list(HOOK_ORG)) {
    await worker.commands.execute(new DeleteWebhook(HOOK_ORG, id, scene.metadata()));
  }
  await scene.pool.query(`delete from vault_secrets`);
});

const kept = async (): Promise<number> => (await scene.pool.query(`select from vault_secrets`)).rowCount ?? 0;
const described = () => ({ url: scene.url, events: ['*'], description: null });

describe('the secret of an endpoint', () => {
  it('is the first one’s, where the same command runs again', async () => {
    const metadata = scene.metadata();
    const first = await worker.commands.execute(new CreateWebhook(HOOK_ORG, described(), metadata));
    const again = await scene.process().commands.execute(new CreateWebhook(HOOK_ORG, described(), metadata));
    expect([again.webhook.id, again.secret]).toEqual([first.webhook.id, null]);
    expect(await kept()).toBe(1);
    const before = scene.receiver.requests.length;
    await worker.asked.test(HOOK_ORG, first.webhook.id, scene.metadata());
    const request = scene.receiver.requests[before];
    if (!request) throw new Error('nothing was sent');
    expect(headerOf(request, 'Service-Signature')).toBe(signatureOf(request, String(first.secret)));
  });

  it('is one, where two tries of a command run at once: whoever is told it has the one that signs', async () => {
    const metadata = scene.metadata();
    const tries = await Promise.all(
      Array.from({ length: 4 }, () =>
        scene.process().commands.execute(new CreateWebhook(HOOK_ORG, described(), metadata)),
      ),
    );
    expect(tries.filter(({ secret }) => secret !== null)).toHaveLength(1);
    expect(new Set(tries.map(({ webhook }) => webhook.id)).size).toBe(1);
    expect(await kept()).toBe(1);
  });

  it('is destroyed once it signs no more, and not before', async () => {
    const { webhook } = await scene.endpoint(worker);
    await worker.commands.execute(new RollWebhookSecret(HOOK_ORG, webhook.id, 3_600, scene.metadata()));
    const sweep = () => new WebhookSecretSweeper(worker.streams, scene.vault, scene.clock, 0).sweep();
    expect([await sweep(), await kept()]).toEqual([0, 2]);
    scene.clock.ms += HOUR_MS;
    expect([await sweep(), await kept()]).toEqual([1, 1]);
    await worker.commands.execute(new RollWebhookSecret(HOOK_ORG, webhook.id, 0, scene.metadata()));
    expect([await sweep(), await kept()]).toEqual([1, 1]);
    // One that no event came to name, after a crash in between.
    await scene.vault.put(
      { org: HOOK_ORG, object: webhook.id, version: 'unnamed', stream: `webhooks-${HOOK_ORG}` },
      new Map([['secret', Buffer.from('whsec_unnamed')]]),
    );
    expect([await sweep(), await kept()]).toEqual([1, 1]);
  });

  it('that was ended after it had signed, and before the first byte, signs nothing that leaves', async () => {
    const { webhook } = await scene.endpoint(worker);
    await scene.happen();
    await scene.fold(worker);
    const open = scene.vault.open.bind(scene.vault);
    let rolled = '';
    vi.spyOn(scene.vault, 'open').mockImplementationOnce(async (ref) => {
      const opened = await open(ref);
      rolled = String(
        (await worker.commands.execute(new RollWebhookSecret(HOOK_ORG, webhook.id, 0, scene.metadata()))).secret,
      );
      return opened;
    });
    const before = scene.receiver.requests.length;
    await scene.send(worker);
    expect(scene.receiver.requests).toHaveLength(before);
    scene.clock.ms += 10_000;
    await scene.send(worker);
    const [request, ...others] = scene.receiver.requests.slice(before);
    if (!request) throw new Error('nothing was sent');
    expect(others).toEqual([]);
    expect(headerOf(request, 'Service-Signature')).toBe(signatureOf(request, rolled));
  });

  it('that does not open where it lies is a failed attempt, and nothing is sent', async () => {
    const { webhook } = await scene.endpoint(worker);
    const { webhook: other } = await scene.endpoint(worker);
    // Moved by hand (rule CON-10).
    await scene.pool.query(
      `update vault_secrets set sealed = (select sealed from vault_secrets where object = $2) where object = $1`,
      [webhook.id, other.id],
    );
    const before = scene.receiver.requests.length;
    expect(await worker.asked.test(HOOK_ORG, webhook.id, scene.metadata())).toMatchObject({
      status: 'dead',
      httpStatus: null,
      errorCode: 'vault_unavailable',
    });
    expect(scene.receiver.requests).toHaveLength(before);
  });
});
