import type { Command } from 'commander';
import type { OrganizationChange } from '#libs/domain/agents';
import { type DeedId, operatorMetadata, type OrgId, timestampOf, type Timestamp } from '#libs/domain/kernel';
import { isKeyActive, type LivingOrganization } from '#libs/domain/people';
import type { Deployment } from '#libs/infra/deployment';
import { idArgument } from '../arguments.js';
import { usage } from '../cli-error.js';
import {
  REASON_HELP,
  withAdministration,
  withChange,
  withDeploymentChange,
  withExamples,
  type ChangeOptions,
  type CommandContext,
  type JsonOption,
  type OrgOption,
} from '../command-context.js';
import { shownSignInLink } from '../sign-in-link.js';
import { facts, present, table, type Answer } from '../terminal.js';

/** `ags org`: organizations, and the brake on all their agents. */
export const registerOrgCommands = (program: Command, context: CommandContext): void => {
  const org = program
    .command('org')
    .description('Organizations, and the stop of all their agents.')
    .summary('organizations; stop and start all agents');
  withExamples(
    org,
    'npm run ags -- org stop --reason "Investigating unusual refunds"',
    'npm run ags -- org start',
    'npm run --silent ags -- org show --json',
  );
  registerReading(org, context);
  registerCreate(org, context);
  registerSwitches(org, context);
};

const registerReading = (org: Command, context: CommandContext): void => {
  withExamples(
    org
      .command('list')
      .description('Lists the organizations of this deployment.')
      .option('--json', 'one JSON object a line')
      .action(async ({ json }: JsonOption) =>
        withAdministration(context, json === true, async ({ census, clock }) => {
          const views = (await census.organizations()).map((found) => viewOf(found, timestampOf(clock.nowMs())));
          const rows = views.map((view) => [view.id, view.name, view.status]);
          return {
            objects: views,
            text: rows.length > 0 ? table(['ORGANIZATION', 'NAME', 'STATUS'], rows) : 'None yet.',
          };
        }),
      ),
    'npm run ags -- org list',
  );
  withExamples(
    org
      .command('show')
      .description('Shows one organization: its status, its owner, and the policy that decides.')
      .option('--org <id>', 'which one; needed when there are several', idArgument('org'))
      .option('--json', 'one JSON object')
      .action(async ({ org: wanted, json }: OrgOption & JsonOption) =>
        withAdministration(context, json === true, async ({ census, clock }) =>
          shown(await census.organization(wanted), timestampOf(clock.nowMs())),
        ),
      ),
    'npm run ags -- org show',
  );
};

const registerCreate = (org: Command, context: CommandContext): void => {
  withExamples(
    org
      .command('create')
      .description(
        'Makes an organization with an owner, whose link to sign in works once within 15 minutes, and an admin key, ' +
          'whose secret is shown once. It enforces a policy that denies everything, until an admin adds rules to it or enforces another.',
      )
      .argument('<name>', '1 to 120 characters')
      .option(
        '--org <id>',
        'go on with the organization that an interrupted create of this name left',
        idArgument('org'),
      )
      .option('--json', 'one JSON object')
      .action(async (name: string, { org: begun, json }: OrgOption & JsonOption) =>
        withDeploymentChange(context, async (deployment) => {
          present(context.terminal, json === true, await created(deployment, context, name, begun ?? null));
        }),
      ),
    'npm run ags -- org create "Support Europe"',
    'npm run ags -- org create "Support Europe" --org org_...',
  );
};

/** Loaded here alone: every other command would begin later for it. */
const denyByDefault = async (deployment: Deployment, org: OrgId): Promise<void> => {
  const { DEFAULT_DENY_POLICY } = await import('#libs/domain/policies');
  const { ensureFirstPolicy } = await import('#libs/infra/deployment');
  await ensureFirstPolicy(deployment, org, {
    name: 'Default deny',
    source: DEFAULT_DENY_POLICY,
    origin: 'starter',
    reason: 'A new organization denies everything',
    commands: 'org-create',
  });
};

/** What an earlier try has made is left as it is. */
const begunOrNew = async (
  deployment: Deployment,
  name: string,
  begun: OrgId | null,
): Promise<{ readonly organization: LivingOrganization; readonly deed: DeedId | null }> => {
  if (begun === null) {
    const { CreateOrganization } = await import('#libs/domain/agents/handlers');
    return deployment.commands.execute(new CreateOrganization(name, operatorMetadata(deployment, null)));
  }
  const organization = await deployment.members().organization(begun);
  if (organization.name === name) return { organization, deed: null };
  throw usage(`${begun} is named "${organization.name}". Give that name, or leave out --org to make another one.`);
};

const created = async (
  deployment: Deployment,
  { terminal }: CommandContext,
  name: string,
  begun: OrgId | null,
): Promise<Answer> => {
  const { organization, deed } = await begunOrNew(deployment, name, begun);
  const { org, owner } = organization;
  // Before any key: whoever holds one finds the policy there.
  await denyByDefault(deployment, org);
  const { CreateAdminKey } = await import('#libs/domain/agents/handlers');
  const { secret } =
    organization.adminKeys.size > 0
      ? { secret: null }
      : await deployment.commands.execute(new CreateAdminKey(org, true, operatorMetadata(deployment, org)));
  const token = await deployment.persons().issueLink(org, owner, operatorMetadata(deployment, org));
  const link = shownSignInLink(deployment, terminal, token);
  const now = await deployment.members().organization(org);
  const view = { ...viewOf(now, now.createdAt), admin_key: secret, sign_in_link: link, deed };
  const text = `${facts([
    ['organization', org],
    ['owner', owner],
    ['policy', 'Default deny: everything is denied'],
    [
      'admin key',
      secret ?? `(shown once, when it was made; \`npm run ags -- keys create --admin --org ${org}\` makes another)`,
    ],
  ])}\n\nThe key is shown once: only a hash of it is kept. Sign in as the owner, once, within 15 minutes:\n${link}\n\nLater \`npm run ags -- people login-link --org ${org}\` makes another link.`;
  return { objects: [view], text };
};

const registerSwitches = (org: Command, context: CommandContext): void => {
  withExamples(
    switchCommand(org, context, 'stop'),
    'npm run ags -- org stop --reason "Investigating unusual refunds"',
    'npm run --silent ags -- org stop --org org_... --json',
  );
  withExamples(switchCommand(org, context, 'start'), 'npm run ags -- org start');
};

const SWITCHES = {
  stop: {
    command: 'StopOrganization',
    description:
      'Stops every agent of an organization. It holds for every call that starts after this command answered, also in a ' +
      'service that is running; attempts are refused with org_stopped, recorded and sealed.',
  },
  start: {
    command: 'StartOrganization',
    description: 'Lets the agents of an organization work again. Agents that were stopped one by one stay stopped.',
  },
} as const;

const switchCommand = (org: Command, context: CommandContext, verb: 'stop' | 'start'): Command =>
  org
    .command(verb)
    .description(SWITCHES[verb].description)
    .option('--org <id>', 'which one; needed when there are several', idArgument('org'))
    .option('--reason <text>', REASON_HELP)
    .option('--json', 'one JSON object')
    .action(async ({ org: wanted, reason, json }: OrgOption & ChangeOptions) =>
      withChange(context, json === true, async (administration) => {
        const { org: id } = await administration.census.organization(wanted);
        const change = await administration.execute((commands) => {
          const Switch = commands[SWITCHES[verb].command];
          return new Switch(id, reason ?? null, administration.metadata(id));
        });
        return switched(change, administration.clock.nowMs());
      }),
    );

const switched = ({ organization, deed }: OrganizationChange, nowMs: number): Answer => {
  const view = { ...viewOf(organization, timestampOf(nowMs)), deed };
  const state = view.status === 'stopped' ? 'All agents are stopped' : 'Agents may work';
  const text =
    deed === null ? `${state} in ${view.id} already; nothing changed.` : `${state} in ${view.id}. Deed ${deed}.`;
  return { objects: [view], text };
};

const shown = (organization: LivingOrganization, at: Timestamp): Answer => {
  const view = viewOf(organization, at);
  const policy = view.policy === null ? 'none: everything is denied' : `${view.policy} version ${view.policy_version}`;
  const text = facts([
    ['organization', view.id],
    ['name', view.name],
    ['status', view.status === 'stopped' ? 'stopped: every agent is refused' : 'active'],
    ['owner', view.owner],
    ['time zone', view.timezone],
    ['policy', policy],
    ['admin keys', `${view.active_admin_keys} active`],
    ['created', view.created_at],
  ]);
  return { objects: [view], text };
};

const viewOf = (organization: LivingOrganization, at: Timestamp) => ({
  object: 'org',
  id: organization.org,
  name: organization.name,
  status: organization.status === 'stopped' ? 'stopped' : 'active',
  owner: organization.owner,
  timezone: organization.timezone,
  policy: organization.enforced?.policy ?? null,
  policy_version: organization.enforced?.version ?? null,
  active_admin_keys: [...organization.adminKeys.values()].filter((key) => isKeyActive(key, at)).length,
  created_at: organization.createdAt,
});
