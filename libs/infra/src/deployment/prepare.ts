import { rm } from 'node:fs/promises';
import { parsePublicKeyText } from '#libs/crypto';
import { agentDecider } from '#libs/domain/agents';
import { CreateAdminKey, CreateAgentKey, CreateOrganization, RegisterAgent } from '#libs/domain/agents/handlers';
import {
  operatorMetadata,
  streamRef,
  type CommandMetadata,
  type Logger,
  type OrgId,
  type UserId,
} from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import { STARTER_POLICY, STARTER_POLICY_WITH_DEMO } from '#libs/domain/policies';
import { type FirstIds, firstIds, PepperMismatch } from '../agents/index.js';
import {
  ensureSecretFile,
  leavingNoFolders,
  missingSecretFiles,
  prepareStateDirectory,
  type SecretFileError,
  secretPathsOf,
  type Config,
} from '../config/index.js';
import { isDemoWanted } from '../demo-database/index.js';
import { VaultKeyMismatch } from '../vault/index.js';
import type { ServiceMetrics } from '../metrics/index.js';
import { requireDatabase } from './database.js';
import { Deployment } from './deployment.js';
import { ensureFirstPolicy } from './first-policy.js';
import { ensureSealKey } from './seal-key-rotation.js';

export type StepStatus = 'done' | 'changed' | 'skipped' | 'failed';

/** `done`: made now. `changed`: made whole. `skipped`: was there already. */
export type OnStep = (step: string, status: StepStatus) => void;

/** What a first start leaves behind. Secrets are shown once: null when they existed already. */
export interface Prepared {
  readonly org: OrgId;
  readonly owner: UserId;
  readonly adminKey: string | null;
  /** What follows `/auth/confirm#token=` in the owner's first link; null when the organization was there already. */
  readonly signInToken: string | null;
  readonly agent: string;
  readonly agentKey: string | null;
  readonly sealKeyFingerprint: string;
}

/**
 * Opens the deployment, making first whatever is not there yet: state directory, secrets, database, seal key,
 * organization with owner and admin key, one agent with a test key, a starter policy. Idempotent, and safe to interrupt:
 * the next run goes on where this one ended.
 */
export const prepareDeployment = async (
  config: Config,
  applicationName: string,
  logger: Logger,
  onStep: OnStep,
  metrics?: ServiceMetrics,
): Promise<{ deployment: Deployment; prepared: Prepared }> => {
  await leavingNoFolders(config.stateDir, async () => {
    await step(onStep, 'state_directory', () => prepareStateDirectory(config.stateDir));
    await opened(onStep, () => requireDatabase(config, logger));
  });
  const madeFiles = await makeSecrets(config, onStep);
  const deployment = await Deployment.open(config, applicationName, logger, metrics).catch(async (error: unknown) => {
    const lost = await lostSecretOf(error, madeFiles);
    onStep(lost === null ? 'database' : 'keys', 'failed');
    throw lost ?? error;
  });
  try {
    // Not before: a database that knows other ones has lost its own.
    onStep('keys', madeFiles.length > 0 ? 'done' : 'skipped');
    onStep('database', deployment.database.preparation);
    return { deployment, prepared: await populate(deployment, onStep) };
  } catch (error) {
    await deployment.close();
    throw error;
  }
};

/** @returns the files that were not there */
const makeSecrets = async (config: Config, onStep: OnStep): Promise<readonly string[]> => {
  const made: string[] = [];
  const { vaultKey, pepper } = secretPathsOf(config);
  try {
    for (const path of [vaultKey, pepper]) if (await ensureSecretFile(path)) made.push(path);
    return made;
  } catch (error) {
    onStep('keys', 'failed');
    throw error;
  }
};

/**
 * A database that knows another secret than the one just made has lost its file: the new one is taken away again, so that
 * it is not mistaken for the old one, and the file is called missing, which it is. Null for any other error.
 */
const lostSecretOf = async (error: unknown, madeFiles: readonly string[]): Promise<SecretFileError | null> => {
  const isMismatch = error instanceof VaultKeyMismatch || error instanceof PepperMismatch;
  if (!isMismatch || madeFiles.length === 0) return null;
  for (const path of madeFiles) await rm(path, { force: true });
  return missingSecretFiles(madeFiles, { cause: error });
};

const opened = async <Result>(onStep: OnStep, open: () => Promise<Result>): Promise<Result> => {
  try {
    return await open();
  } catch (error) {
    onStep('database', 'failed');
    throw error;
  }
};

const populate = async (deployment: Deployment, onStep: OnStep): Promise<Prepared> => {
  const sealing = await step(onStep, 'seal_key', async () => {
    const { key, isNew } = await ensureSealKey(deployment, () => operatorMetadata(deployment, null));
    return [isNew ? 'done' : 'skipped', key] as const;
  });
  const ids = await firstIds(deployment.database.durable, deployment.randomness);
  const signInToken = await step(onStep, 'organization', () => ensureOrganization(deployment, ids));
  const adminKey = await step(onStep, 'admin_key', () => ensureAdminKey(deployment, ids));
  const agentKey = await step(onStep, 'agent', () => ensureAgent(deployment, ids));
  await step(onStep, 'policy', () => ensurePolicy(deployment, ids));
  return {
    ...ids,
    adminKey,
    signInToken,
    agentKey,
    sealKeyFingerprint: parsePublicKeyText(sealing.publicKey).fingerprint,
  };
};

const step = async <Result>(
  onStep: OnStep,
  name: string,
  work: () => Promise<StepStatus | readonly [StepStatus, Result]>,
): Promise<Result> => {
  try {
    const outcome = await work();
    const [status, result] = typeof outcome === 'string' ? [outcome, undefined] : outcome;
    onStep(name, status);
    return result as Result;
  } catch (error) {
    onStep(name, 'failed');
    throw error;
  }
};

const ensureOrganization = async (
  deployment: Deployment,
  { org, owner }: FirstIds,
): Promise<[StepStatus, string | null]> => {
  const { state } = await deployment.streams.load(streamRef(organizationDecider, org));
  if (state.status !== 'none') return ['skipped', null];
  await deployment.commands.execute(
    new CreateOrganization('My organization', firstMetadata(deployment, org, 'organization'), { org, owner }),
  );
  return ['done', await deployment.persons().issueLink(org, owner, operatorMetadata(deployment, org))];
};

const ensureAdminKey = async (deployment: Deployment, { org }: FirstIds): Promise<[StepStatus, string | null]> => {
  const { state } = await deployment.streams.load(streamRef(organizationDecider, org));
  if (state.status === 'none' || state.adminKeys.size > 0) return ['skipped', null];
  const { secret } = await deployment.commands.execute(
    new CreateAdminKey(org, true, firstMetadata(deployment, org, 'admin-key')),
  );
  return [secret === null ? 'skipped' : 'done', secret];
};

/** The agent and its test key, with every scope an agent may have. */
const ensureAgent = async (deployment: Deployment, ids: FirstIds): Promise<[StepStatus, string | null]> => {
  const { org, owner, agent } = ids;
  const before = await deployment.streams.load(streamRef(agentDecider, agent));
  if (before.state.status === 'none') {
    await deployment.commands.execute(
      new RegisterAgent(org, { name: 'first-agent', owner }, firstMetadata(deployment, org, 'agent'), agent),
    );
  } else if (before.state.keys.size > 0) {
    return ['skipped', null];
  }
  const { secret } = await deployment.commands.execute(
    new CreateAgentKey(org, agent, { livemode: false }, firstMetadata(deployment, org, 'agent-key')),
  );
  return [secret === null ? 'skipped' : 'done', secret];
};

const ensurePolicy = async (deployment: Deployment, { org }: FirstIds): Promise<StepStatus> => {
  const deed = await ensureFirstPolicy(deployment, org, {
    name: 'Starter policy',
    source: isDemoWanted(deployment.config) ? STARTER_POLICY_WITH_DEMO : STARTER_POLICY,
    origin: 'starter',
    reason: 'Starter policy of the first start',
    commands: 'first-start',
  });
  return deed === null ? 'skipped' : 'done';
};

/** The same command at every try of the first start. */
const firstMetadata = (deployment: Deployment, org: OrgId, what: string): CommandMetadata => ({
  ...operatorMetadata(deployment, org),
  commandId: `first-start:${what}:${org}`,
});
