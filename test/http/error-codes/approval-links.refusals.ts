import { expect, vi } from 'vitest';
import type { Answer } from '../../support/service.js';
import {
  during,
  foreignPasskey,
  held,
  late,
  MISSED,
  refused,
  stopped,
  under,
  UNJUDGED,
  whileSigned,
} from './approvals.refusals.js';
import type { Refusal, RefusalGroup, Verdict } from './refusal.js';
import { headersOf, type Session } from './sent.js';
import type { Stage } from './stage.js';

const NO_LINK = {
  verdict: [401, 'authentication_error', 'approval_link_invalid', null] as Verdict,
  headers: { 'www-authenticate': 'Bearer realm="service"' },
};
const READER = 'reads-mail@example.com';
const NOT_SEEN = `sha256:${'0'.repeat(64)}`;

/** `other` is the key of another agent: a person gets ten mails an hour about the calls of one. */
const made: { reader: Session | null; membership: string; other: string } = { reader: null, membership: '', other: '' };

const enter = async ({ people, change }: Stage): Promise<void> => {
  const { session, membership } = await people.member(READER, 'admin');
  const { secret } = await change('POST', '/v1/agents', { name: 'asks-by-mail', key: {} });
  Object.assign(made, { reader: session, membership, other: secret });
};

interface Mailed {
  readonly approval: string;
  readonly token: string;
  readonly digest: string;
}

/** Of links that were looked at: about which approval. Each is looked at once, since a used one counts as a failure. */
const known = new Map<string, Omit<Mailed, 'token'> | null>();

const lookAt = async ({ send }: Stage, token: string): Promise<Omit<Mailed, 'token'> | null> => {
  const { status, json } = await send('POST', '/v1/approvals/link/preview', { json: { token } });
  if (status !== 200) return null;
  const { id, context_digest: digest } = json['approval'] as { id: string; context_digest: string };
  return { approval: id, digest };
};

/** A call that waits, and the link that this person was mailed about it. */
const mailed = async (stage: Stage, asked: Parameters<typeof held>[1] = {}): Promise<Mailed> => {
  const approval = await held(stage, asked);
  return vi.waitFor(
    async () => {
      for (const token of stage.people.tokens(READER, 'approve')) {
        if (!known.has(token)) known.set(token, await lookAt(stage, token));
        const shown = known.get(token);
        if (shown?.approval === approval) return { ...shown, token };
      }
      throw new Error('no mail yet');
    },
    { timeout: 30_000, interval: 1_000 },
  );
};

const decide = async ({ send }: Stage, token: string, digest = NOT_SEEN, more: object = {}): Promise<Answer> => {
  const json = { token, decision: 'approve', context_digest: digest };
  // What refuses the decision refuses to ask a device about it.
  expect((await send('POST', '/v1/approvals/link/passkey/options', { json })).status).not.toBe(200);
  return send('POST', '/v1/approvals/link/decide', { json: { ...json, ...more } });
};

/** A yes by the link, after something has happened to the call that waits, or while it does. */
const byLink = (
  rule: string,
  verdict: Verdict,
  meanwhile: (stage: Stage, yes: () => Promise<Answer>, mail: Mailed) => Promise<Answer>,
  isOfOther = false,
): Refusal => ({
  rule: `${rule}, by the link of a mail`,
  verdict,
  provoke: async (stage) => {
    const mail = await mailed(stage, isOfOther ? { agentKey: made.other } : {});
    return meanwhile(stage, () => decide(stage, mail.token, mail.digest), mail);
  },
});

const inConsole = async (stage: Stage, decision: 'approve' | 'deny', { approval, digest }: Mailed): Promise<void> => {
  const headers = headersOf('POST', made.reader as Session);
  const path = `/v1/approvals/${approval}/${decision}`;
  expect((await stage.send('POST', path, { headers, json: { context_digest: digest } })).status).toBe(200);
};

/** Between two changes of what an owner or an admin has set. */
const between = async (
  change: (value: string) => Promise<unknown>,
  [begin, end]: readonly [string, string],
  work: () => Promise<Answer>,
): Promise<Answer> => {
  await change(begin);
  try {
    return await work();
  } finally {
    await change(end);
  }
};

export const APPROVAL_LINKS: RefusalGroup = {
  title: 'approvals by mail',
  enter,
  refusals: [
    {
      rule: 'a link that nobody was sent, when it is looked at',
      ...NO_LINK,
      provoke: ({ send }) => send('POST', '/v1/approvals/link/preview', { json: { token: 'k'.repeat(43) } }),
    },
    {
      rule: 'a link that nobody was sent, when it is to decide',
      ...NO_LINK,
      provoke: (stage) => decide(stage, 'k'.repeat(43)),
    },
    byLink('what was not looked at', late('context_changed'), (stage, _yes, { token }) => decide(stage, token)),
    byLink(
      'a passkey of nobody',
      MISSED,
      (stage, _yes, { token, digest }) => decide(stage, token, digest, { passkey: foreignPasskey(stage) }),
      true,
    ),
    byLink(
      'a yes without a passkey, where one is needed',
      refused('approval_needs_passkey'),
      (stage, _yes, { token }) =>
        whileSigned(stage, async () => {
          // That it is needed is part of what is shown.
          const shown = await lookAt(stage, token);
          return decide(stage, token, shown?.digest);
        }),
      true,
    ),
    byLink('a yes where the Console alone decides', refused('approval_link_review_only'), (stage, yes) =>
      between(
        (mail) => stage.owner('PATCH', '/v1/org', { json: { approvals: { mail } } }),
        ['review_only', 'decide'],
        yes,
      ),
    ),
    byLink('who is an approver no more', refused('approver_not_eligible'), (stage, yes) =>
      between(
        (role) => stage.owner('PATCH', `/v1/org/members/${made.membership}`, { json: { role } }),
        ['viewer', 'admin'],
        yes,
      ),
    ),
    {
      rule: 'a yes to what is done on one’s own behalf, by the link of a mail',
      verdict: refused('self_approval'),
      provoke: async (stage) => {
        const { token, digest } = await mailed(stage, { onBehalfOf: 'customer-known-later', agentKey: made.other });
        const path = `/v1/org/members/${made.membership}`;
        await stage.owner('PATCH', path, { json: { references: ['customer-known-later'] } });
        return decide(stage, token, digest);
      },
    },
    byLink('a second yes', late('already_countersigned'), async (stage, yes, mail) => {
      await inConsole(stage, 'approve', mail);
      return yes();
    }),
    byLink('what was decided', late('approval_decided'), async (stage, yes, mail) => {
      await inConsole(stage, 'deny', mail);
      return yes();
    }),
    byLink('a yes while the organization is stopped', stopped('org_stopped'), (stage, yes) =>
      during(stage, ['/v1/org/stop', '/v1/org/start'], yes),
    ),
    ...(['stop', 'suspend'] as const).map((brake) =>
      byLink(
        `a yes after the ${brake} of the agent`,
        stopped(brake === 'stop' ? 'agent_stopped' : 'agent_suspended'),
        (stage, yes) => {
          const agent = `/v1/agents/${stage.service.agent}`;
          return during(stage, [`${agent}/${brake}`, `${agent}/resume`], yes);
        },
      ),
    ),
    byLink('a yes to what the policy denies by now', [403, 'policy_error', 'policy_denied', null], (stage, yes) =>
      under(stage, 'version: 1\ndefault: deny\n', yes),
    ),
    byLink(
      'a yes to what cannot be judged',
      [403, 'policy_error', 'policy_unavailable', null],
      (stage, yes) => under(stage, UNJUDGED, yes),
      true,
    ),
    byLink(
      'a yes to what could not run',
      late('conflict'),
      (stage, yes) =>
        between((status) => stage.change('PATCH', '/v1/connectors/lab', { status }), ['disabled', 'active'], yes),
      true,
    ),
  ],
};

/** Links count failures with the sign-in: whoever has guessed too often there tries none here. */
export const LINKS_AFTER_TOO_MANY: RefusalGroup = {
  title: 'after too much of signing in, approvals by mail',
  refusals: (['preview', 'passkey/options', 'decide'] as const).map((path) => ({
    rule: `${path} of a link, whichever`,
    verdict: [429, 'rate_limit_error', 'rate_limited', null],
    headers: { 'retry-after': expect.stringMatching(/^3[0-6]\d\d$/) as string },
    provoke: (stage) =>
      path === 'decide'
        ? decide(stage, 'k'.repeat(43))
        : stage.send('POST', `/v1/approvals/link/${path}`, {
            json: {
              token: 'k'.repeat(43),
              ...(path === 'preview' ? {} : { decision: 'deny', context_digest: NOT_SEEN }),
            },
          }),
  })),
};
