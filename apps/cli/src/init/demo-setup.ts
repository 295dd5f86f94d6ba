import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { operatorMetadata, streamRef, type Logger } from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import { CompiledPolicies } from '#libs/domain/policies';
import { type Config, ownEnvironmentBut } from '#libs/infra/config';
import {
  type CallAsAdmin,
  type DemoConnectorStatus,
  type DemoDatabase,
  ensureDemoConnector,
  startDemoDatabase,
  untilDemoIsReady,
} from '#libs/infra/demo-database';
import type { Deployment, Prepared, StepStatus } from '#libs/infra/deployment';
import { redactText } from '#libs/infra/logging';
import { Person } from '../demo/person.js';
import { member, ScratchService } from '../demo/scratch-service.js';
import { refuseInterrupted } from '../interruption.js';
import { type Seen, SmokeRun } from './smoke-run.js';

/** What comes after the steps of `prepareDeployment`, in this order. */
type DemoStep = 'demo_database' | 'server' | 'demo_connector' | 'smoke_query' | 'smoke_refusal' | 'smoke_approval';

/** @param said what was seen, for a person; null where the status says it all */
export type OnDemoStep = (step: DemoStep, status: StepStatus, said: string | null) => void;

export interface DemoSetUp {
  readonly config: Config;
  readonly deployment: Deployment;
  readonly prepared: Prepared;
  readonly logger: Logger;
  readonly interrupted: AbortSignal;
  readonly onStep: OnDemoStep;
}

const SMOKE_STEPS = ['smoke_query', 'smoke_refusal', 'smoke_approval'] as const;

/** The rule of the starter policy that asks a person for changes of the demo. */
const DEMO_RULE = 'demo-changes';

const TAKEN = 'there is a connector of that name that leads elsewhere; it was left as it is';
const OTHER_POLICY = `the policy in force has no rule ${DEMO_RULE}, as the starter policy has (docs/demo-database.md)`;

/**
 * Brings the demo database, leads a connector to it and has an agent try it, once, by the API of a service that is started
 * for it. What was tried before is not tried again, as long as the database is where it was.
 * @returns whether every step went well; one that did not was told by its step
 */
export const setUpDemo = async (setUp: DemoSetUp): Promise<boolean> => {
  const { config, logger, onStep } = setUp;
  const demo = await stepped(setUp, 'demo_database', async () => {
    const started = await startDemoDatabase({ stateDir: config.stateDir, log: logger });
    onStep('demo_database', started.isNew ? 'done' : 'skipped', null);
    return started;
  });
  if (demo === null) return false;
  try {
    if (await wasTried(config, demo)) {
      for (const step of ['server', 'demo_connector', ...SMOKE_STEPS] as const) onStep(step, 'skipped', null);
      return true;
    }
    return await withService(setUp, (service) => offeredAndTried(setUp, demo, service));
  } finally {
    await demo.release();
  }
};

/** Null where it failed, which is told by its step. */
const stepped = async <Result>(
  { onStep, interrupted }: DemoSetUp,
  step: DemoStep,
  work: () => Promise<Result>,
): Promise<Result | null> => {
  try {
    refuseInterrupted(interrupted, 'It was interrupted. Run it again: it goes on where it ended.');
    return await work();
  } catch (error) {
    onStep(step, 'failed', redactText(error instanceof Error ? error.message : String(error)));
    return null;
  }
};

/** Of its own for this: nobody else's port, mail server or address is taken. */
const SERVICE_SETTINGS = {
  SERVICE_HOST: '127.0.0.1',
  SERVICE_PORT: '0',
  SERVICE_BASE_URL: '',
  SERVICE_METRICS_ADDRESS: '',
  SERVICE_FAILPOINTS: '',
  SERVICE_DRAIN_DELAY_MS: '0',
  SERVICE_DEMO: 'off',
  SMTP_URL: '',
  SERVICE_MAIL_FROM: '',
  LOG_LEVEL: 'warn',
} as const;

const withService = async (setUp: DemoSetUp, work: (service: ScratchService) => Promise<boolean>): Promise<boolean> => {
  const { stateDir } = setUp.config;
  const log = join(stateDir, 'init.log');
  const settings = { ...SERVICE_SETTINGS, SERVICE_STATE_DIR: stateDir };
  const service = new ScratchService(ownEnvironmentBut(settings), log);
  let isWell = false;
  try {
    const started = await stepped(setUp, 'server', async () => {
      await service.start();
      setUp.onStep('server', 'done', null);
      return true;
    });
    isWell = started !== null && (await work(service));
    return isWell;
  } finally {
    await service.stop();
    // What went wrong may stand in it.
    if (isWell) await rm(log, { force: true });
  }
};

const offeredAndTried = async (setUp: DemoSetUp, demo: DemoDatabase, service: ScratchService): Promise<boolean> => {
  const owner = new Person(service);
  try {
    const status = await stepped(setUp, 'demo_connector', async () => {
      await signIn(setUp, owner);
      const call: CallAsAdmin = (method, path, body) => owner.send(method, path, body);
      const found = await ensureDemoConnector(call, demo);
      if (found !== 'taken') await untilDemoIsReady(call);
      setUp.onStep('demo_connector', ...toldOf(found));
      return found;
    });
    if (status === null) return false;
    const reason = status === 'taken' ? TAKEN : await policyFault(setUp);
    if (reason === null) return await tried(setUp, demo, service, owner);
    for (const step of SMOKE_STEPS) setUp.onStep(step, 'skipped', reason);
    return true;
  } finally {
    await owner.send('POST', '/v1/auth/logout', {}).catch(() => undefined);
  }
};

const toldOf = (status: DemoConnectorStatus): [StepStatus, string | null] =>
  status === 'taken' ? ['skipped', TAKEN] : [status, null];

/** By a link of its own: the one that is shown stays good for the owner. */
const signIn = async ({ deployment, prepared: { org, owner: user } }: DemoSetUp, owner: Person): Promise<void> => {
  const token = await deployment.persons().issueLink(org, user, operatorMetadata(deployment, org));
  const answer = await owner.signIn(token);
  if (answer.status >= 300)
    throw new Error(`The owner could not sign in: ${String(member(answer.json, 'error', 'message'))}`);
};

/** Why the calls would not be decided as the starter policy decides them; null where they would. */
const policyFault = async ({ deployment: { streams }, prepared: { org } }: DemoSetUp): Promise<string | null> => {
  const { state } = await streams.load(streamRef(organizationDecider, org));
  if (state.status === 'none' || state.enforced === null) return OTHER_POLICY;
  const loaded = await new CompiledPolicies(streams).load(state.enforced.policy, state.enforced.versionId);
  return loaded.isUsable && loaded.policy.rules.some(({ id }) => id === DEMO_RULE) ? null : OTHER_POLICY;
};

const tried = async (
  setUp: DemoSetUp,
  demo: DemoDatabase,
  service: ScratchService,
  owner: Person,
): Promise<boolean> => {
  const { prepared, config, onStep } = setUp;
  const key = await agentKeyFor(prepared, owner);
  try {
    const run = new SmokeRun(service, owner, key.secret);
    const calls: Readonly<Record<(typeof SMOKE_STEPS)[number], () => Promise<Seen>>> = {
      smoke_query: () => run.query(),
      smoke_refusal: () => run.refusal(),
      smoke_approval: () => run.approval(),
    };
    for (const step of SMOKE_STEPS) {
      const outcome = await stepped(setUp, step, calls[step]);
      if (outcome === null) return false;
      onStep(step, outcome.isSo ? 'done' : 'failed', outcome.said);
      if (!outcome.isSo) return false;
    }
    await noteTried(config, demo);
    return true;
  } finally {
    await key.end();
  }
};

interface LentKey {
  readonly secret: string;
  end(): Promise<void>;
}

/** The one that was made now, or one for this alone: of an earlier one nobody here knows the secret. */
const agentKeyFor = async ({ agentKey, agent }: Prepared, owner: Person): Promise<LentKey> => {
  if (agentKey !== null) return { secret: agentKey, end: () => Promise.resolve() };
  const path = `/v1/agents/${agent}/keys`;
  const { json } = await owner.send('POST', path, {});
  return {
    secret: String(json['secret']),
    end: async () => void (await owner.send('DELETE', `${path}/${String(json['id'])}`)),
  };
};

const noteOf = ({ stateDir }: Config): string => join(stateDir, 'demo', 'smoke-run.json');

const noteTried = (config: Config, { port }: DemoDatabase): Promise<void> =>
  writeFile(noteOf(config), `${JSON.stringify({ port })}\n`, { mode: 0o600 });

/** A database that was made anew, or listens elsewhere, has not been tried. */
const wasTried = async (config: Config, { port, isNew }: DemoDatabase): Promise<boolean> => {
  if (isNew) return false;
  try {
    const noted = JSON.parse(await readFile(noteOf(config), 'utf8')) as { readonly port?: unknown };
    return noted.port === port;
  } catch (error) {
    // Half a note is none: the disk was full, or the machine ended.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
};
