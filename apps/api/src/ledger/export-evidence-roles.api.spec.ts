import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';

let bench: PeopleBench;
let viewer: Browser;

beforeAll(async () => {
  bench = await PeopleBench.start();
  viewer = await bench.member(await bench.ownerBrowser(), 'viewer@example.com', 'viewer');
});
afterAll(() => bench?.close());

describe('GET /v1/deeds/export?evidence=true', () => {
  it('is for admins: a viewer may export the deeds alone', async () => {
    const { status, json } = await viewer.get('/v1/deeds/export?evidence=true');
    expect([status, json]).toMatchObject([403, { error: { code: 'insufficient_role' } }]);
  });
});
