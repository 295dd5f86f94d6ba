import type { Command } from 'commander';
import { AGENT_SCOPES, type AgentScope, type NamedKey, type NewKey, OVERLAP_MAX_SECONDS } from '#libs/domain/agents';
import {
  epochMsOf,
  timestampOf,
  type Actor,
  type AgentId,
  type DeedId,
  type KeyId,
  type OrgId,
  type Timestamp,
} from '#libs/domain/kernel';
import { isKeyActive } from '#libs/domain/people';
import type { Administration } from '../administration.js';
import { agentArgument, durationArgument, idArgument, keyArgument, listArgument, overlapOption } from '../arguments.js';
import type { Census, HeldKey } from '../census.js';
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

const KEY_HELP = 'its key_ id, or how it begins: svc_live_ and 8 characters, or these 8 alone';
const NOT_BOTH = 'Give --agent or --admin, not both.';

interface HolderOptions extends OrgOption {
  readonly agent?: string;
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
    'npm run ags -- keys revoke svc_live_k3y9prf0',
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
      .option('--agent <agent>', 'only of this agent: its agt_ id or its name', agentArgument)
      .option('--admin', 'only admin keys')
      .option('--json', 'one JSON object a line')
      .action(async ({ org, agent, admin, json }: HolderOptions & JsonOption) => {
        if (agent !== undefined && admin) throw usage(NOT_BOTH);
        await withAdministration(context, json === true, async ({ census, clock }) => {
          const all = agent === undefined ? await census.keys(org) : await keysOfAgent(census, agent, org);
          const held = all.filter(({ kind }) => !admin || kind === 'admin');
          return listed(held, timestampOf(clock.nowMs()), await census.lastUses(held));
        });
      }),
    'npm run ags -- keys list',
    'npm run --silent ags -- keys list --agent agt_... --json',
  );
};

const keysOfAgent = async (census: Census, named: string, wanted: OrgId | undefined): Promise<readonly HeldKey[]> => {
  const { org, agent } = await census.agent(named, wanted);
  return census.keysOf({ kind: 'agent', org, agent });
};

const listed = (held: readonly HeldKey[], at: Timestamp, uses: ReadonlyMap<string, number>): Answer => {
  const views = held.map((key) => viewOf(key, at, uses));
  const rows = views.map((view) => [
    view.id,
    view.agent ?? view.org,
    view.prefix,
    view.expires_at !== null && view.status === 'active' ? `active until ${view.expires_at}` : view.status,
    view.scopes.join(','),
    // Agents say when they act: of their keys neither is written down.
    view.agent === null ? madeBy(view.created_by) : '-',
    view.agent === null ? (view.last_used_at ?? 'never') : '-',
  ]);
  const heads = ['KEY', 'HOLDER', 'PREFIX', 'STATUS', 'SCOPES', 'MADE BY', 'LAST USED'];
  return { objects: views, text: rows.length > 0 ? table(heads, rows) : 'No keys yet.' };
};

const madeBy = (actor: Actor | null): string => (actor === null ? 'not recorded' : (actor.id ?? actor.type));

interface CreateOptions extends HolderOptions, JsonOption {
  readonly scopes?: readonly AgentScope[];
  readonly live?: true;
  readonly expiresIn?: number;
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
      .option('--agent <agent>', 'for this agent: its agt_ id or its name', agentArgument)
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
      .option('--expires-in <time>', 'with --admin: when it ends, such as 90d; never when left out', durationArgument)
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
    'npm run ags -- keys create --admin --expires-in 90d',
  );
};

const requireOneHolder = ({ agent, admin, scopes, live, expiresIn }: CreateOptions): void => {
  if (agent !== undefined && admin) throw usage(NOT_BOTH);
  if (agent === undefined && !admin) throw usage('Say whose key it is: --agent AGENT, or --admin.');
  if (admin && (scopes || live))
    throw usage('An admin key is always live and has the scope admin: leave out --scopes and --live.');
  if (!admin && expiresIn !== undefined) throw usage('--expires-in goes with --admin: an agent’s key ends by a roll.');
  if (expiresIn === 0) throw usage('--expires-in must be more than 0. Leave it out for a key without an end.');
};

const createAdminKey = async (
  administration: Administration,
  { org: wanted, expiresIn }: CreateOptions,
): Promise<Answer> => {
  const { org } = await administration.census.organization(wanted);
  const metadata = administration.metadata(org);
  const end = expiresIn === undefined ? null : timestampOf(epochMsOf(metadata.now) + expiresIn * 1000);
  const made = await administration.execute(({ CreateAdminKey }) => new CreateAdminKey(org, true, metadata, end));
  return issued(administration, made);
};

const createAgentKey = async (
  administration: Administration,
  named: string,
  { org: wanted, scopes, live }: CreateOptions,
): Promise<Answer> => {
  const { org, agent } = await administration.census.agent(named, wanted);
  const asked = { livemode: live === true, ...(scopes === undefined ? {} : { scopes }) };
  return issued(
    administration,
    await administration.execute(
      ({ CreateAgentKey }) => new CreateAgentKey(org, agent, asked, administration.metadata(org)),
    ),
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
      .argument('<key>', KEY_HELP, keyArgument)
      .addOption(overlapOption(`until the old key stops working: 0 to ${OVERLAP_MAX_SECONDS / 86_400}d`))
      .option('--json', 'one JSON object')
      .action(async (named: NamedKey, { overlap: overlapSeconds, json }: RollOptions) =>
        withChange(context, json === true, async (administration) => {
          const held = await administration.census.key(named);
          const id = held.key.key;
          const roll = { key: id, livemode: held.key.livemode, overlapSeconds };
          const metadata = administration.metadata(held.org);
          const made =
            held.kind === 'agent'
              ? await administration.execute(
                  ({ RollAgentKey }) => new RollAgentKey(held.org, held.agent.agent, roll, metadata),
                )
              : await administration.execute(({ RollAdminKey }) => new RollAdminKey(held.org, roll, metadata));
          return issued(administration, made, (await administration.census.key({ id })).key.expiresAt);
        }),
      ),
    'npm run ags -- keys roll key_...',
    'npm run ags -- keys roll svc_live_k3y9prf0 --overlap 0',
  );
};

const registerRevoke = (keys: Command, context: CommandContext): void => {
  withExamples(
    keys
      .command('revoke')
      .description('Ends a key. Every call that starts after this command answered is refused with api_key_revoked.')
      .argument('<key>', KEY_HELP, keyArgument)
      .option('--json', 'one JSON object')
      .action(async (named: NamedKey, { json }: JsonOption) =>
        withChange(context, json === true, async (administration) => {
          const { org, ...held } = await administration.census.key(named);
          const id = held.key.key;
          const metadata = administration.metadata(org);
          const { deed } =
            held.kind === 'agent'
              ? await administration.execute(
                  ({ RevokeAgentKey }) => new RevokeAgentKey(org, held.agent.agent, id, metadata),
                )
              : await administration.execute(({ RevokeAdminKey }) => new RevokeAdminKey(org, id, metadata));
          const view = { ...(await currentView(administration, id)), deed };
          const text =
            deed === null ? `${id} was revoked already; nothing changed.` : `${id} is revoked. Deed ${deed}.`;
          return { objects: [view], text };
        }),
      ),
    'npm run ags -- keys revoke key_...',
    'npm run ags -- keys revoke svc_live_k3y9prf0',
  );
};

/** The new key with its secret; the only time that it can be seen. */
const issued = async (
  administration: Administration,
  { key, secret, deed }: NewKey,
  oldExpiresAt: Timestamp | null = null,
): Promise<Answer> => {
  const view: KeyView & { secret: string | null; deed: DeedId | null } = {
    ...(await currentView(administration, key)),
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
  const end = view.expires_at === null ? '' : ` It ends at ${view.expires_at}.`;
  const overlap = oldExpiresAt === null ? '' : ` The old key works until ${oldExpiresAt}.`;
  lines.push(`The secret is shown once: only a hash of it is kept.${end}${overlap}`);
  if (!view.livemode && view.agent !== null) lines.push(TEST_KEY_RUNS_TOOLS);
  return { objects: [view], text: lines.join('\n') };
};

const currentView = async ({ census, clock }: Administration, id: KeyId): Promise<KeyView> => {
  const held = await census.key({ id });
  return viewOf(held, timestampOf(clock.nowMs()), await census.lastUses([held]));
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
  /** Of an admin key; null where it was not recorded, and of an agent's. */
  readonly created_by: Actor | null;
  readonly last_used_at: Timestamp | null;
  readonly expires_at: Timestamp | null;
  readonly revoked_at: Timestamp | null;
}

const viewOf = (held: HeldKey, at: Timestamp, uses: ReadonlyMap<string, number>): KeyView => {
  const { key } = held;
  const usedMs = uses.get(key.prefix);
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
    created_by: held.kind === 'admin' ? held.key.createdBy : null,
    last_used_at: usedMs === undefined ? null : timestampOf(usedMs),
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
  };
};
