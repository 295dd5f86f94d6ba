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

/** Where a member of a class begins that is a route or private. */
const MEMBER = /^ {2}(?=@(?:Get|Post|Put|Patch|Delete)\(|private (?!readonly))/m;
const CHANGING = /^@(?:Post|Put|Patch|Delete)\(/;
const SENDS = 'commands.execute(';

/** Names of the methods by which a client changes something, as HTTP has it, and which send no command, not by a private method either. */
const withoutCommand = (controller: string): readonly string[] => {
  const members = controller.split(MEMBER).slice(1);
  const calls = new Set([SENDS]);
  const sends = (member: string): boolean => [...calls].some((call) => member.includes(call));
  const privates = members.filter((member) => member.startsWith('private'));
  // A private method may call another that sends.
  privates.forEach(() => {
    for (const member of privates.filter(sends))
      calls.add(`this.${/^private (?:async )?(\w+)/.exec(member)?.[1] ?? ''}(`);
  });
  return members
    .filter((member) => CHANGING.test(member) && !sends(member))
    .map((member) => /^ {2}(?:async )?(\w+)\(/m.exec(member)?.[1] ?? member);
};

/** Changing methods that append no event as a command does (docs/adr/0030). Each with what it does instead. */
const WITHOUT_A_COMMAND: Readonly<Record<string, string>> = {
  'approvals/approval-links.controller.ts preview': 'reads what a link shows',
  'approvals/approval-links.controller.ts passkey': 'says what a device is to sign',
  'approvals/approval-links.controller.ts decide': 'LinkedApprovals sends the command',
  'approvals/approvals.controller.ts passkey': 'says what a device is to sign',
  'connectors/connector-tests.controller.ts test': 'runs checks and keeps their result as a row',
  'connectors/connector-tools.controller.ts refresh':
    'asks a server; ToolRecorder appends what it says, as the service',
  'gate/resolve-tools.controller.ts resolve': 'reads',
  'gate/submit-action.controller.ts submit': 'GateCalls sends the command',
  'gate/verify-intent.controller.ts verify': 'reads',
  'mcp/mcp.controller.ts all': 'GateCalls sends the command of a call',
  'mcp/mcp.controller.ts one': 'GateCalls sends the command of a call',
  'people/passkey-sign-in.controller.ts options': 'keeps a challenge as a row',
  'people/passkey-sign-in.controller.ts verify': 'opens a session, whose answers are cookies',
  'people/passkeys.controller.ts options': 'keeps a challenge as a row',
  'people/sessions.controller.ts switchOrg': 'ends a session and opens another, whose answers are cookies',
  'people/sessions.controller.ts logout': 'ends sessions, whose answers are cookies',
  'people/sessions.controller.ts end': 'ends a session, whose answers are cookies',
  'people/sign-in.controller.ts login': 'orders a mail',
  'people/sign-in.controller.ts preview': 'reads what a link is for',
  'people/sign-in.controller.ts callback': 'opens a session, whose answers are cookies',
  'policies/dry-run-policy.controller.ts dryRun': 'reads',
  'policies/policies.controller.ts lint': 'reads',
  'policies/preview-policy.controller.ts preview': 'reads',
  'policies/test-policy.controller.ts test': 'reads',
  'replays/replays.controller.ts start': 'orders work that rows tell of',
  'replays/replays.controller.ts cancel': 'ends work that rows tell of',
  'webhooks/webhook-deliveries.controller.ts test': 'sends, and keeps what came of it as a row',
  'webhooks/webhook-deliveries.controller.ts redeliver': 'sends, and keeps what came of it as a row',
};

describe('a route that changes something', () => {
  it('sends a command, or says here what it does instead', () => {
    const without = controllers.flatMap((name) => withoutCommand(text(name)).map((method) => `${name} ${method}`));
    // Not listed: inject CommandBus and send a command of libs/domain/src/<context>/handlers (docs/add-an-endpoint.md).
    expect(without).toEqual(Object.keys(WITHOUT_A_COMMAND));
  });

  it('is found beside others that send one', () => {
    const controller = `class Planted {
  constructor(private readonly commands: CommandBus, private readonly beside: Beside) {}

  @Get('shown')
  shown() { return this.beside.read(); }

  @Post('sent')
  @Route({ status: 201 })
  async sent() { await this.commands.execute(new Sent()); }

  @Delete('planted')
  async planted() { await this.beside.change(); }

  @Post('told')
  told() { return this.change(); }

  private change() { return this.tell(); }

  private async tell() { return this.commands.execute(new Told()); }
}`;
    expect(withoutCommand(controller)).toEqual(['planted']);
  });

  it('knows no service that changes a stream beside its commands', () => {
    const injected = controllers.filter((name) => /\b(?!SealKey)\w+Administration\b/.test(text(name)));
    // Listed: make each changing method a command with a handler, as in libs/domain/src/agents/handlers.
    expect(injected).toEqual([]);
  });
});
