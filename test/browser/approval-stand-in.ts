import { Body, Controller, HttpCode, Injectable, Post } from '@nestjs/common';
import { IsIn, IsString } from 'class-validator';
import type { JsonObject } from '#libs/crypto';
import { DomainError } from '#libs/domain/kernel';
import { Route } from '../../apps/api/src/http/route.decorator.js';
import { IfPresent } from '../../apps/api/src/http/shape.js';

class PreviewShape {
  @IsString()
  token!: string;
}

class DecideShape extends PreviewShape {
  @IsIn(['approve', 'deny'])
  decision!: 'approve' | 'deny';

  @IsString()
  context_digest!: string;

  @IfPresent()
  @IsString()
  reason?: string;
}

/** An attack in a text that agents choose: markup, characters that turn the direction of text, and invisible ones. */
const ARGS: Record<string, unknown> = {
  amount: 90_000,
  note: '<img src=x onerror=report("run")> \u202egnp.exe\u202c zero\u200bwidth',
  lines: ['a', 'b'],
};

const APPROVAL = {
  object: 'approval',
  id: 'apr_01h2xcejqtf2nbrexx3vqjhp41',
  action: 'act_01h2xcejqtf2nbrexx3vqjhp41',
  status: 'pending',
  agent: { id: 'agt_01h2xcejqtf2nbrexx3vqjhp41', name: 'support-\u202e1' },
  tool: 'pay.create_refund',
  side_effect: 'destructive',
  rule_id: 'large-refunds',
  policy_version: 'plv_01h2xcejqtf2nbrexx3vqjhp41' as string | null,
  required: 2,
  countersigned: 0,
  on_behalf_of: 'customer:4711' as string | null,
  cost: { amount: 90_000, currency: 'eur', display: '€900.00' },
  created_at: '2026-10-01T12:00:00.000Z',
  expires_at: '2026-10-02T12:00:00.000Z',
  context_digest: 'sha256:one',
  approvable: true,
  blocked_by: null as { code: string; message: string } | null,
  context: {
    tool: {
      name: 'pay.create_refund',
      title: null as string | null,
      description: 'Gives <b>money</b> back',
      side_effect: 'destructive',
      definition: null as JsonObject | null,
    },
    args: ARGS,
    amounts: [] as { argument: string; currency: string | null; display: string | null; hint: string | null }[],
    agent: { id: 'agt_01h2xcejqtf2nbrexx3vqjhp41', name: 'support-1', labels: {} as Record<string, string> },
    session: null as string | null,
    intent_signed: false,
    rule: { id: 'large-refunds', description: null as string | null },
    approvers: ['role:admin'],
    connector: 'con_01h2xcejqtf2nbrexx3vqjhp41' as string | null,
    facts: {} as Record<string, unknown>,
    sends: { method: 'POST', url: 'https://pay.example.com/v1/refunds' } as
      { method: string; url: string } | { sql: string; params: (string | null)[] } | null,
    verify: null as { level: string; sentence: string } | null,
    budgets_after: [] as { id: string; used: number; max: number; currency: string | null }[],
    changed: [] as string[],
    complete: true,
  },
  approvers: [] as { user: string; countersigned_at: string | null; reason: string | null }[],
  you: { eligible: true, why_not: null as string | null, may_deny: true },
  warnings: [{ code: 'first_call', text: 'This agent has never called this tool before.' }],
};

/** The answers that the page gets, and a record of its requests. */
@Injectable()
export class ApprovalScript {
  readonly calls: { readonly path: string; readonly body: object }[] = [];
  decides = true;
  approval = structuredClone(APPROVAL);
  /** Thrown by the next decision, once. */
  failure: DomainError | null = null;

  forget(): void {
    this.calls.length = 0;
    this.decides = true;
    this.approval = structuredClone(APPROVAL);
    this.failure = null;
  }
}

const since = '2026-10-01';

/** The two routes that the approval page uses, with fixed answers. */
@Controller('v1/approvals/link')
export class ApprovalStandIn {
  constructor(private readonly script: ApprovalScript) {}

  @Post('preview')
  @HttpCode(200)
  @Route({ auth: 'public', since })
  preview(@Body() body: PreviewShape) {
    this.script.calls.push({ path: 'preview', body: { ...body } });
    if (body.token.startsWith('expired')) throw new DomainError('approval_link_invalid');
    return { object: 'approval_link', decides: this.script.decides, approval: this.script.approval };
  }

  @Post('decide')
  @HttpCode(200)
  @Route({ auth: 'public', since })
  decide(@Body() body: DecideShape) {
    const { script } = this;
    script.calls.push({ path: 'decide', body: { ...body } });
    const { failure } = script;
    script.failure = null;
    if (failure !== null) throw failure;
    const status = body.decision === 'deny' ? 'denied' : 'pending';
    return { ...script.approval, status, countersigned: body.decision === 'deny' ? 0 : 1 };
  }
}
