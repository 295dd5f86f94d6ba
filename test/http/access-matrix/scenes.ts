import type { Browser } from '../../support/people-bench.js';
import { challengeOf } from '../../support/passkey-scene.js';
import { SoftAuthenticator } from '../../support/soft-authenticator.js';
import type { DescribedOperation } from '../described-answer.js';
import type { Caller, Verdict } from './expected.js';
import { type Furnisher, type Furniture, newPublicKey, pathOn, sessionIdOf, userIdOf } from './furniture.js';

/** One request of a matrix, and who sends it where that must be somebody new. */
export interface Scene {
  readonly path: string;
  readonly body?: unknown;
  readonly browser?: Browser;
  /** Puts back what every other request needs. */
  readonly after?: () => Promise<unknown>;
}

export interface Stage {
  readonly furnisher: Furnisher;
  /** There for good: for requests that change none of it. */
  readonly standing: Furniture;
  readonly org: string;
  /** Of an agent that may do all that agents may. */
  readonly agentKey: string;
  /** The session of a caller who is a person. */
  readonly browserOf: (caller: Caller) => Browser | null;
}

type Setting = (stage: Stage, operation: DescribedOperation, caller: Caller) => Promise<Scene>;

/**
 * A request that is refused. What the guard refuses has a body that no operation takes: that the refusal comes before it
 * shows that it is the guard's, where a decider behind it would refuse the same.
 */
export const refusedScene = (operation: DescribedOperation, furniture: Furniture, verdict: Verdict): Scene => ({
  path: pathOn(operation.template, furniture),
  body: operation.takesBody && verdict?.[1] !== 'not_found' ? { colour: 'green' } : operation.bodyExample,
});

/** A request that succeeds when the guard lets it through. */
export const allowedScene = async (stage: Stage, operation: DescribedOperation, caller: Caller): Promise<Scene> => {
  const { template, method, name, bodyExample } = operation;
  const fresh = method === 'GET' ? undefined : SETTINGS.find(([fits]) => fits.test(name))?.[1];
  return fresh ? fresh(stage, operation, caller) : { path: pathOn(template, stage.standing), body: bodyExample };
};

/** What is changed or used up is made for each request. */
const SETTINGS: readonly (readonly [RegExp, Setting])[] = [
  [
    /^POST \/v1\/agents\/\{id\}\/intent-keys$/,
    async ({ furnisher, standing }, { template }) => ({
      path: pathOn(template, { ...standing, ...(await furnisher.agent()) }),
      body: { public_key: newPublicKey() },
    }),
  ],
  [
    / \/v1\/agents\/\{id\}/,
    async ({ furnisher, standing }, { template, bodyExample }) => ({
      path: pathOn(template, { ...standing, ...(await furnisher.agent()) }),
      body: bodyExample,
    }),
  ],
  [
    /^POST \/v1\/connectors$/,
    async ({ furnisher }, { bodyExample }) => ({
      path: '/v1/connectors',
      body: { ...(bodyExample as object), name: `new-${furnisher.next()}` },
    }),
  ],
  [
    / \/v1\/connectors\/\{id\}/,
    async ({ furnisher, standing }, { template, bodyExample }) => ({
      path: pathOn(template, { ...standing, connector: await furnisher.connector() }),
      body: bodyExample,
    }),
  ],
  [
    / \/v1\/policies\/\{id\}/,
    async ({ furnisher, standing }, { template, bodyExample }) => ({
      path: pathOn(template, { ...standing, policy: await furnisher.policy(template.endsWith('/deactivate')) }),
      body: bodyExample,
    }),
  ],
  [
    /^POST \/v1\/replays\/\{id\}/,
    async ({ furnisher, standing }, { template }) => ({
      path: pathOn(template, { ...standing, replay: await furnisher.replay(standing.policy) }),
    }),
  ],
  [
    /^DELETE \/v1\/webhooks\/\{id\}$/,
    async ({ furnisher, standing }, { template }) => ({
      path: pathOn(template, { ...standing, webhook: await furnisher.webhook() }),
    }),
  ],
  [
    /^POST \/v1\/webhooks\/\{id\}\/roll$/,
    // Without an overlap, so that no secret is one too many.
    ({ standing }, { template }) => Promise.resolve({ path: pathOn(template, standing), body: { overlap_seconds: 0 } }),
  ],
  [
    /^PATCH \/v1\/webhooks\/\{id\}$/,
    ({ standing }, { template }) =>
      Promise.resolve({ path: pathOn(template, standing), body: { description: 'Pager' } }),
  ],
  [
    /^POST \/v1\/webhooks\/\{id\}\/redeliver$/,
    async ({ furnisher, standing }, { template }) => ({
      path: pathOn(template, standing),
      body: { event: await furnisher.delivery(standing.webhook) },
    }),
  ],
  [
    /^POST \/v1\/approvals\/\{id\}/,
    async ({ furnisher, standing, agentKey, browserOf }, { template }, caller) => {
      const path = pathOn(template, { ...standing, approval: await furnisher.approval(agentKey) });
      const shown = await browserOf(caller)?.get(path.replace(/\/(?:approve|deny|passkey\/options)$/, ''));
      const context_digest = shown?.json['context_digest'] ?? `sha256:${'0'.repeat(64)}`;
      return { path, body: path.endsWith('options') ? { context_digest, decision: 'deny' } : { context_digest } };
    },
  ],
  [
    /^(?:POST|DELETE) \/v1\/org\/keys\/\{id\}/,
    async ({ furnisher, standing }, { template, takesBody }) => ({
      path: pathOn(template, { ...standing, orgKey: await furnisher.orgKey() }),
      // Without an overlap, so that ten keys are enough for all of these requests.
      ...(takesBody ? { body: { overlap_seconds: 0 } } : {}),
    }),
  ],
  [
    /^POST \/v1\/org\/(?:stop|start)$/,
    async ({ furnisher }, { template, bodyExample }) => ({
      path: template,
      body: bodyExample,
      after: () => furnisher.make('POST', '/v1/org/start'),
    }),
  ],
  [
    /^POST \/v1\/(?:org\/members|auth\/login)$/,
    async ({ furnisher }, { template, bodyExample }) => ({
      path: template,
      body: { ...(bodyExample as object), email: `new-${furnisher.next()}@example.com` },
    }),
  ],
  [/^DELETE \/v1\/org\/members\/\{id\}$/, (stage, operation, caller) => removal(stage, operation, caller)],
  [
    /^POST \/v1\/auth\/(?:switch-org|logout)$/,
    async (stage, { template }, caller) => ({
      path: template,
      body: template.endsWith('switch-org') ? { org: stage.org } : {},
      browser: await newSessionOf(stage, caller),
    }),
  ],
  [
    /^POST \/v1\/passkeys$/,
    async ({ browserOf }, { template }, caller) => ({
      path: template,
      body: { name: 'Key', credential: await newCredentialOf(personAt(browserOf(caller), caller)) },
    }),
  ],
  [
    /^DELETE \/v1\/passkeys\/\{id\}$/,
    async ({ standing, browserOf }, { template }, caller) => {
      const browser = personAt(browserOf(caller), caller);
      const made = await browser.post('/v1/passkeys', { name: 'Key', credential: await newCredentialOf(browser) });
      return { path: pathOn(template, { ...standing, passkey: String(made.json['id']) }) };
    },
  ],
  [
    /^DELETE \/v1\/sessions\/\{id\}$/,
    async (stage, { template }, caller) => ({
      path: pathOn(template, { ...stage.standing, session: await sessionIdOf(await newSessionOf(stage, caller)) }),
    }),
  ],
];

/** Every member may leave, and a viewer may do no more than that: the decider judges whom one removes. */
const removal = async (stage: Stage, { template }: DescribedOperation, caller: Caller): Promise<Scene> => {
  const { furnisher, standing } = stage;
  if (caller !== 'a viewer') {
    return { path: pathOn(template, { ...standing, member: await furnisher.invited() }) };
  }
  const { browser, member } = await furnisher.joined('viewer');
  return { path: pathOn(template, { ...standing, member }), browser };
};

const newSessionOf = async ({ furnisher, browserOf }: Stage, caller: Caller): Promise<Browser> =>
  furnisher.sessionOf(await userIdOf(personAt(browserOf(caller), caller)));

const personAt = (browser: Browser | null, caller: Caller): Browser => {
  if (browser === null) throw new Error(`${caller} has no session`);
  return browser;
};

/** What a device answers that this person has. */
const newCredentialOf = async (browser: Browser): Promise<object> => {
  const asked = await browser.post('/v1/passkeys/options');
  return new SoftAuthenticator({ rpId: 'ags.example.com', origin: 'https://ags.example.com' }).register(
    challengeOf(asked),
  );
};
