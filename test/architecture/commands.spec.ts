import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/service.js';

const API = join(ROOT, 'apps/api/src');

const controllers = readdirSync(API, { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.controller.ts'))
  .sort();

const text = (name: string): string => readFileSync(join(API, name), 'utf8');

/** Routes that a client changes something by, as their methods say. */
const CHANGING = /^\s*@(?:Post|Put|Patch|Delete)\(/m;

/** Changing methods that append no event as a command does (docs/adr/0030). Each with what it does instead. */
const WITHOUT_A_COMMAND: Readonly<Record<string, string>> = {
  'approvals/approval-links.controller.ts': 'reads what a link shows; a decision is a command of LinkedApprovals',
  'connectors/connector-tests.controller.ts': 'runs checks and keeps their result as a row',
  'gate/resolve-tools.controller.ts': 'reads',
  'gate/verify-intent.controller.ts': 'reads',
  'people/sessions.controller.ts': 'ends sessions, whose answers are cookies',
  'people/sign-in.controller.ts': 'opens sessions, whose answers are cookies',
  'policies/dry-run-policy.controller.ts': 'reads',
  'policies/preview-policy.controller.ts': 'reads',
  'policies/test-policy.controller.ts': 'reads',
  'replays/replays.controller.ts': 'orders work that rows tell of',
  'webhooks/webhook-deliveries.controller.ts': 'sends, and keeps what came of it as a row',
};

describe('a route that changes something', () => {
  it('sends a command, or says here what it does instead', () => {
    const without = controllers.filter((name) => CHANGING.test(text(name)) && !text(name).includes('CommandBus'));
    // Not listed: inject CommandBus and send a command of libs/domain/src/<context>/handlers (docs/add-an-endpoint.md).
    expect(without).toEqual(Object.keys(WITHOUT_A_COMMAND));
  });

  it('knows no service that changes a stream beside its commands', () => {
    const injected = controllers.filter((name) => /\b(?!SealKey)\w+Administration\b/.test(text(name)));
    // Listed: make each changing method a command with a handler, as in libs/domain/src/agents/handlers.
    expect(injected).toEqual([]);
  });
});
