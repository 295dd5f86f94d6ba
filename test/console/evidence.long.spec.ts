import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { eventually } from '../http/edge-client.js';
import { OWNER, VIEWER } from './console-scene.js';
import { DESK, describeConsole, inWindow, PHONE, scene } from './describe-console.js';

let deed: string;

const link = (page: Page, name: string) => page.getByRole('link', { name });

describeConsole('evidence in the Console', () => {
  beforeAll(async () => {
    await scene.joinedViewer();
    const { id } = await scene.act('crm.get_customer', { id: '42' });
    deed = (await scene.make('GET', `/v1/actions/${id as string}`))['deed'] as string;
  });

  it('leaves with an owner: the deeds with what they stand for, and the export is a deed', async () => {
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(scene.url('/app/deeds'));
      const [file] = await Promise.all([page.waitForEvent('download'), link(page, 'Export with evidence').click()]);
      expect(file.suggestedFilename()).toMatch(/^evidence-org_.*\.tar\.gz$/);
      expect(await file.failure()).toBeNull();
      const newest = async () => JSON.stringify(await scene.make('GET', '/v1/deeds?kind=admin&order=desc&limit=5'));
      await eventually(newest).toContain('evidence.exported');
    });
  });

  it('is not offered to a viewer, and refused where it is asked for', async () => {
    await inWindow(VIEWER, DESK, async (page) => {
      await page.goto(scene.url('/app/deeds'));
      await link(page, 'Export all deeds').waitFor();
      expect(await link(page, 'Export with evidence').count()).toBe(0);
      const { status, code } = await page.evaluate(async () => {
        const answer = await fetch('/v1/deeds/export?evidence=true');
        return { status: answer.status, code: ((await answer.json()) as { error: { code: string } }).error.code };
      });
      expect([status, code]).toEqual([403, 'insufficient_role']);
    });
  });

  it('is covered by a checkpoint, which the page of a deed names, with who has cosigned it', async () => {
    const { size } = await scene.make('POST', '/v1/ledger/checkpoint', {});
    await inWindow(VIEWER, PHONE, async (page) => {
      await page.goto(scene.url(`/app/deeds/${deed}`));
      const panel = page.getByRole('region', { name: 'Who has witnessed it' });
      await panel.getByText(/^of \d+ deeds, signed/).waitFor();
      expect(Number(size)).toBeGreaterThan(0);
      await panel.getByText('no witness is asked').waitFor();
      await panel.getByText('Without a witness it is the word of the service alone.').waitFor();
    });
  });
});
