import { expect, it } from 'vitest';
import type { Digest, JsonObject } from '#libs/crypto';
import { idOf } from '#libs/domain/kernel';
import { AWAIT_DEFINITION, definitionOf } from './served-tool.js';

it('the tool that waits says how long the id of an action is', () => {
  const { action } = (AWAIT_DEFINITION['inputSchema'] as JsonObject)['properties'] as { action: JsonObject };
  const length = idOf('act', Buffer.alloc(16)).length - 'act_'.length;
  expect(action['description']).toContain(`act_ and ${length} characters`);
});

it('a tool that writes, and of which some calls destroy, is announced as one that may destroy', () => {
  const { annotations } = definitionOf('shop__execute', {
    name: 'execute',
    description: null,
    sideEffect: 'write',
    callsMayBe: ['destructive'],
    isRepeatable: false,
    digest: `sha256:${'0'.repeat(64)}` as Digest,
    timeoutMs: 1_000,
    inputSchema: { type: 'object' },
  });
  expect(annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
});
