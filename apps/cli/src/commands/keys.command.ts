import type { Command } from 'commander';
import { AGENT_SCOPES, OVERLAP_MAX_SECONDS, type AgentScope, type NewKey } from '#libs/domain/agents';
import { timestampOf, type AgentId, type DeedId, type KeyId, type Timestamp } from '#libs/domain/kernel';
import { isKeyActive } from '#libs/domain/people';
import type { Administration } from '../administration.js';
import { idArgument, listArgument, overlapOption } from '../arguments.js';
import type { HeldKey } from '../census.js';
import { usage } from '../cli-error.js';
import {
  withAdministration,
  withChange,
  withExamples,
  type CommandContext,
  type JsonOption,
  type OrgOption,
} from '../command-context.js';
import { table, type Answer } from '../terminal.js';
import { TEST_KEY_RUNS_TOOLS } from '../test-key.js';

const NOT_BOTH = 'Give --agent or --admin, not both.';

interface HolderOptions extends OrgOption {
  readonly agent?: AgentId;
  readonly admin?: true;
}

/** `ags keys`: API keys of agents and admin keys of organizations. */
export const registerKeysCommands = (program: Command, context: CommandContext): void => {
  const keys = program
    .command('keys')
    .description(
      'API keys of agents, and admin keys of organizations. A secret is shown once, when it is made; only a hash of it ' +
        'is kept. A revoked key is refused from the next call on, also by a service that is running.',
    )
    .summary('list, create, roll and revoke API keys');
  withExamples(
    keys,
    'npm run ags -- keys create --agent agt_... --scopes actions:execute,actions:read',
    'npm run ags -- keys create --admin',
    'npm run ags -- keys roll key_... --overlap 24h',
    'npm run ags -- keys revoke key_...',
  );
  registerList(keys, context);
  registerCreate(keys, context);
  registerRoll(keys, context);
  registerRevoke(keys, context);
};

const registerList = (keys: Command, context: CommandContext): void => {
  withExamples(
    keys
      .command('list')
      .description('Lists keys, without their secrets: admin keys first, then agent by agent.')
      .option('--org <id>', 'only of this organization', idArgument('org'))
      .option('--agent <id>', 'only of this agent', idArgument('agt'))
      .option('--admin', 'only admin keys')
      .option('--json', 'one JSON object a line')
      .action(async ({ org, agent, admin, json }: HolderOptions & JsonOption) => {
        if (agent !== undefined && admin) throw usage(NOT_BOTH);
        await withAdministration(context, json === true, async ({ census, clock }) => {
          const held =
            agent === undefined
              ? await census.keys(org)
              : await census.keysOf({ kind: 'agent', org: (await census.agent(agent, org)).org, agent });
          return listed(
            held.filter(({ kind }) => !admin || kind === 'admin'),
            timestampOf(clock.nowMs()),
          );
        });
      }),
    'npm run ags -- keys list',
    'npm run --silent ags -- keys list --agent agt_... --json',
  );
};

const listed = (held: readonly HeldKey[], at: Timestamp): Answer => {
  const views = held.map((key) => viewOf(key, at));
  const rows = views.map((view) => [
    view.id,
    view.agent ?? view.org,
    view.prefix,
    view.expires_at !== null && view.status === 'active' ? `active until ${view.expires_at}` : view.status,
    view.scopes.join(','),
  ]);
  const text = rows.length > 0 ? table(['KEY', 'HOLDER', 'PREFIX', 'STATUS', 'SCOPES'], rows) : 'No keys yet.';
  return { objects: views, text };
};

interface CreateOptions extends HolderOptions, JsonOption {
  readonly scopes?: readonly AgentScope[];
  readonly live?: true;
}

const registerCreate = (keys: Command, context: CommandContext): void => {
  withExamples(
    keys
      .command('create')
      .description(
        'Makes a key and shows its secret, this once.\n\n' +
          'An agent that calls tools needs actions:execute, and actions:read to wait for its calls. Give deeds:read only ' +
          'to an agent that audits: its lists show its own deeds, but it may export the whole chain, because a chain with ' +
          'holes proves nothing. Deeds hold no arguments and no results; they do say which agent called which tool, when, ' +
          'on whose behalf, what was decided and how it ended, and what administrators changed.',
      )
      .summary('make a key for an agent, or an admin key')
      .option('--agent <id>', 'for this agent', idArgument('agt'))
      .option('--admin', 'an admin key of the organization; always live, scope admin')
      .option('--org <id>', 'with --admin: which one; needed when there are several', idArgument('org'))
      .option(
        '--scopes <list>',
        `with --agent: out of ${AGENT_SCOPES.join(', ')} (default: all)`,
        listArgument(AGENT_SCOPES),
      )
      .option(
        '--live',
        'with --agent: a live key; otherwise a test key, which marks its calls as test and runs them all the same',
      )
      .option('--json', 'one JSON object')
      .action(async (options: CreateOptions) => {
        requireOneHolder(options);
        await withChange(context, options.json === true, async (administration) => {
          const { agent } = options;
          return agent === undefined
            ? createAdminKey(administration, options)
            : createAgentKey(administration, agent, options);
        });
      }),
    'npm run ags -- keys create --agent agt_...',
    'npm run ags -- keys create --agent agt_... --scopes actions:execute,actions:read --live',
    'npm run ags -- keys create --admin',
  );
};

const requireOneHolder = ({ agent, admin, scopes, live }: CreateOptions): void => {
  if (agent !== undefined && admin) throw usage(NOT_BOTH);
  if (agent === undefined && !admin) throw usage('Say whose key it is: --agent AGENT, or --admin.');
  if (admin && (scopes || live))
    throw usage('An admin key is always live and has the scope admin: leave out --scopes and --live.');
};

const createAdminKey = async (administration: Administration, { org: wanted }: CreateOptions): Promise<Answer> => {
  const { org } = await administration.census.organization(wanted);
  const made = await administration.organizations().createAdminKey(org, true, administration.metadata(org));
  return issued(administration, made);
};

const createAgentKey = async (
  administration: Administration,
  id: AgentId,
  { org: wanted, scopes, live }: CreateOptions,
): Promise<Answer> => {
  const { org, agent } = await administration.census.agent(id, wanted);
  const asked = { livemode: live === true, ...(scopes === undefined ? {} : { scopes }) };
  return issued(
    administration,
    await administration.agents().createKey(org, agent, asked, administration.metadata(org)),
  );
};

interface RollOptions extends JsonOption {
  readonly overlap: number;
}

const registerRoll = (keys: Command, context: CommandContext): void => {
  withExamples(
    keys
      .command('roll')
      .description(
        'Makes a successor with the same holder and scopes, and shows its secret, this once. The old key works until ' +
          'the overlap ends, then answers api_key_expired.',
      )
      .argument('<key>', 'key_ id', idArgument('key'))
      .addOption(overlapOption(`until the old key stops working: 0 to ${OVERLAP_MAX_SECONDS / 86_400}d`))
      .option('--json', 'one JSON object')
      .action(async (id: KeyId, { overlap: overlapSeconds, json }: RollOptions) =>
        withChange(context, json === true, async (administration) => {
          const held = await administration.census.key(id);
          const roll = { key: id, livemode: held.key.livemode, overlapSeconds };
          const metadata = administration.metadata(held.org);
          const made =
            held.kind === 'agent'
              ? await administration.agents().rollKey(held.org, held.agent.agent, roll, metadata)
              : await administration.organizations().rollAdminKey(held.org, roll, metadata);
          return issued(administration, made, (await administration.census.key(id)).key.expiresAt);
        }),
      ),
    'npm run ags -- keys roll key_...',
    'npm run ags -- keys roll key_... --overlap 0',
  );
};

const registerRevoke = (keys: Command, context: CommandContext): void => {
  withExamples(
    keys
      .command('revoke')
      .description('Ends a key. Every call that starts after this command answered is refused with api_key_revoked.')
      .argument('<key>', 'key_ id', idArgument('key'))
      .option('--json', 'one JSON object')
      .action(async (id: KeyId, { json }: JsonOption) =>
        withChange(context, json === true, async (administration) => {
          const { org, ...held } = await administration.census.key(id);
          const metadata = administration.metadata(org);
          const { deed } =
            held.kind === 'agent'
              ? await administration.agents().revokeKey(org, held.agent.agent, id, metadata)
              : await administration.organizations().revokeAdminKey(org, id, metadata);
          const view = { ...viewOf(await administration.census.key(id), metadata.now), deed };
          const text =
            deed === null ? `${id} was revoked already; nothing changed.` : `${id} is revoked. Deed ${deed}.`;
          return { objects: [view], text };
        }),
      ),
    'npm run ags -- keys revoke key_...',
  );
};

/** The new key with its secret; the only time that it can be seen. */
const issued = async (
  { census, clock }: Administration,
  { key, secret, deed }: NewKey,
  oldExpiresAt: Timestamp | null = null,
): Promise<Answer> => {
  const view: KeyView & { secret: string | null; deed: DeedId | null } = {
    ...viewOf(await census.key(key), timestampOf(clock.nowMs())),
    secret,
    deed,
  };
  const whose = view.agent === null ? `admin key of ${view.org}` : `key of ${view.agent}`;
  const lines = [
    `${view.id}, ${view.livemode ? 'live' : 'test'} ${whose}, scopes ${view.scopes.join(', ')}.`,
    '',
    `  ${secret ?? ''}`,
    '',
  ];
  const overlap = oldExpiresAt === null ? '' : ` The old key works until ${oldExpiresAt}.`;
  lines.push(`The secret is shown once: only a hash of it is kept.${overlap}`);
  if (!view.livemode && view.agent !== null) lines.push(TEST_KEY_RUNS_TOOLS);
  return { objects: [view], text: lines.join('\n') };
};

interface KeyView {
  readonly object: 'api_key';
  readonly id: KeyId;
  readonly org: string;
  /** Null for an admin key. */
  readonly agent: AgentId | null;
  /** As the key begins: what logs and lists may show. */
  readonly prefix: string;
  readonly livemode: boolean;
  readonly scopes: readonly string[];
  readonly status: 'active' | 'expired' | 'revoked';
  readonly created_at: Timestamp;
  readonly expires_at: Timestamp | null;
  readonly revoked_at: Timestamp | null;
}

const viewOf = (held: HeldKey, at: Timestamp): KeyView => {
  const { key } = held;
  return {
    object: 'api_key',
    id: key.key,
    org: held.org,
    agent: held.kind === 'agent' ? held.agent.agent : null,
    prefix: `svc_${key.livemode ? 'live' : 'test'}_${key.prefix}`,
    livemode: key.livemode,
    scopes: held.kind === 'agent' ? held.key.scopes : ['admin'],
    status: key.revokedAt !== null ? 'revoked' : isKeyActive(key, at) ? 'active' : 'expired',
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
  };
};
