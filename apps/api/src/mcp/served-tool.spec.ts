import { expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import { idOf } from '#libs/domain/kernel';
import { AWAIT_DEFINITION } from './served-tool.js';

it('the tool that waits says how long the id of an action is', () => {
  const { action } = (AWAIT_DEFINITION['inputSchema'] as JsonObject)['properties'] as { action: JsonObject };
  const length = idOf('act', Buffer.alloc(16)).length - 'act_'.length;
  expect(action['description']).toContain(`act_ and ${length} characters`);
});
