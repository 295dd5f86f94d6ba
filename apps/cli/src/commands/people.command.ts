import { Option, type Command } from 'commander';
import { operatorMetadata, type KeyId, type MembershipId, type OrgId, type UserId } from '#libs/domain/kernel';
import {
  activeMembershipOf,
  type LivingOrganization,
  type Membership,
  requireMailAddress,
  type Role,
  ROLES,
} from '#libs/domain/people';
import type { Deployment } from '#libs/infra/deployment';
import { collected, idArgument } from '../arguments.js';
import { Census } from '../census.js';
import { notFound } from '../cli-error.js';
import {
  withDeployment,
  withDeploymentChange,
  withExamples,
  type CommandContext,
  type JsonOption,
  type OrgOption,
} from '../command-context.js';
import { shownSignInLink } from '../sign-in-link.js';
import { facts, present, table, type Answer } from '../terminal.js';

/** `ags people`: who may sign in, and the ways in that an operator opens. */
export const registerPeopleCommands = (program: Command, context: CommandContext): void => {
  const people = program
    .command('people')
    .description('People: who may sign in to an organization, and a link to sign in with.')
    .summary('list and invite people, make a sign-in link');
  withExamples(
    people,
    'npm run ags -- people login-link',
    'npm run ags -- people invite jane@example.com --role admin',
    'npm run ags -- people list',
  );
  registerList(people, context);
  registerLoginLink(people, context);
  registerInvite(people, context);
  registerSetAddress(people, context);
  registerRemove(people, context);
  registerErase(people, context);
};

const ORG_HELP = 'which organization; needed when there are several';

interface Options extends OrgOption, JsonOption {}

/** The organization that was named, or the only one. */
const organizationOf = async (deployment: Deployment, wanted: OrgId | undefined): Promise<LivingOrganization> => {
  const { PostgresKeyDirectory } = await import('#libs/infra/agents');
  const { store, durable } = deployment.database;
  return new Census(store, deployment.streams, new PostgresKeyDirectory(durable)).organization(wanted);
};

const registerList = (people: Command, context: CommandContext): void => {
  withExamples(
    people
      .command('list')
      .description('Lists the members of an organization with their addresses, those who are only invited included.')
      .option('--org <id>', ORG_HELP, idArgument('org'))
      .option('--json', 'one JSON object a line')
      .action(async ({ org, json }: Options) =>
        withDeployment(context, async (deployment) => {
          const { members } = await organizationOf(deployment, org);
          const shown = [...members.values()].filter(({ status }) => status !== 'removed');
          const addresses = await deployment.people.directory.addressesOf(shown.map(({ user }) => user));
          const views = shown.map((member) => viewOf(member, addresses));
          const rows = views.map((view) => [view.id, view.user, view.email ?? '(none)', view.role, view.status]);
          const text = table(['MEMBERSHIP', 'PERSON', 'ADDRESS', 'ROLE', 'STATUS'], rows);
          present(context.terminal, json === true, { objects: views, text });
        }),
      ),
    'npm run ags -- people list',
    'npm run --silent ags -- people list --json',
  );
};

const registerLoginLink = (people: Command, context: CommandContext): void => {
  withExamples(
    people
      .command('login-link')
      .description(
        'Makes a link that signs a member in, once, within 15 minutes: for the first owner, and for whoever cannot read ' +
          'mail. That it was made is sealed. Hand it over as you would a password.',
      )
      .argument('[person]', 'usr_... of a member; the owner when left out', idArgument('usr'))
      .option('--org <id>', ORG_HELP, idArgument('org'))
      .option('--json', 'one JSON object')
      .action(async (person: UserId | undefined, { org, json }: Options) =>
        withDeploymentChange(context, async (deployment) => {
          const organization = await organizationOf(deployment, org);
          const user = person ?? ownerOf(organization);
          const metadata = operatorMetadata(deployment, organization.org);
          const token = await asMember(user, () => deployment.persons().issueLink(organization.org, user, metadata));
          const link = shownSignInLink(deployment, context.terminal, token);
          const view = { object: 'login_link', org: organization.org, user, link, expires_in_s: 900 };
          const text = `${link}\n\nIt signs ${user} in to ${organization.org}, once, within 15 minutes.`;
          present(context.terminal, json === true, { objects: [view], text });
        }),
      ),
    'npm run ags -- people login-link',
    'npm run --silent ags -- people login-link usr_... --json',
  );
};

const registerInvite = (people: Command, context: CommandContext): void => {
  withExamples(
    people
      .command('invite')
      .description(
        'Invites a person, or again with a fresh link that makes older ones void. The mail is sent by a worker of the ' +
          'service; without a mail server `npm run ags -- mail outbox` shows it.',
      )
      .argument('<address>', 'one plain e-mail address')
      .addOption(new Option('--role <role>', 'what the person may do').choices(ROLES).default('viewer'))
      .option('--org <id>', ORG_HELP, idArgument('org'))
      .option('--json', 'one JSON object')
      .action(async (text: string, { org, role, json }: Options & { readonly role: Role }) =>
        withDeploymentChange(context, async (deployment) => {
          const address = requireMailAddress(text);
          const { org: id } = await organizationOf(deployment, org);
          const metadata = operatorMetadata(deployment, id);
          const { InviteMember } = await import('#libs/domain/people/handlers');
          const { member } = await deployment.commands.execute(new InviteMember(id, { address, role }, metadata));
          const view = viewOf(member, new Map([[member.user, address.spelling]]));
          const done = `${view.email ?? ''} is invited as ${view.role}, until ${member.invitationExpiresAt ?? ''}.`;
          present(context.terminal, json === true, { objects: [view], text: `${done}\n\n${described(view)}` });
        }),
      ),
    'npm run ags -- people invite jane@example.com --role admin',
  );
};

const registerSetAddress = (people: Command, context: CommandContext): void => {
  withExamples(
    people
      .command('set-address')
      .description(
        'Gives a member another e-mail address to sign in with, or the first owner one at all. Every session of the ' +
          'person ends. That it was done is sealed; the address is in no deed. Where a crash cuts it off, run it again with ' +
          'the same address: it goes on where it was.',
      )
      .argument('<person>', 'usr_... as `npm run ags -- people list` shows it', idArgument('usr'))
      .argument('<address>', 'one plain e-mail address')
      .option('--org <id>', ORG_HELP, idArgument('org'))
      .option('--json', 'one JSON object')
      .action(async (person: UserId, text: string, { org, json }: Options) =>
        withDeploymentChange(context, async (deployment) => {
          const address = requireMailAddress(text);
          const { org: id } = await organizationOf(deployment, org);
          const metadata = operatorMetadata(deployment, id);
          const member = await asMember(person, () => deployment.persons().setAddress(id, person, address, metadata));
          const view = viewOf(member, new Map([[person, address.spelling]]));
          const sentence = `${person} signs in with ${address.spelling} from now on; every session is ended.`;
          present(context.terminal, json === true, { objects: [view], text: sentence });
        }),
      ),
    'npm run ags -- people set-address usr_... jane@example.com',
  );
};

const registerRemove = (people: Command, context: CommandContext): void => {
  withExamples(
    people
      .command('remove')
      .description(
        'Removes a member, or takes an invitation back. Sessions of the person in the organization are over at once, and the ' +
          'admin keys that the person made are revoked, but for those named with --keep-key.',
      )
      .argument('<membership>', 'mem_... as `npm run ags -- people list` shows it', idArgument('mem'))
      .option(
        '--keep-key <key>',
        `an admin key of the person that stays; may be repeated`,
        collected(idArgument('key')),
      )
      .option('--org <id>', ORG_HELP, idArgument('org'))
      .option('--json', 'one JSON object')
      .action(async (membership: MembershipId, { keepKey = [], org, json }: RemoveOptions) =>
        withDeploymentChange(context, async (deployment) => {
          const organization = await organizationOf(deployment, org);
          if (!organization.members.has(membership)) throw noSuch(membership);
          const metadata = operatorMetadata(deployment, organization.org);
          const { RemoveMember } = await import('#libs/domain/people/handlers');
          const removed = await deployment.commands.execute(
            new RemoveMember(organization.org, membership, metadata, keepKey),
          );
          const { member } = removed;
          const revoked = keysRevokedBetween(organization, removed.organization);
          const view = viewOf(member, await deployment.people.directory.addressesOf([member.user]));
          const keys = revoked.length === 0 ? '' : ` Admin keys revoked: ${revoked.join(', ')}.`;
          const text = `${membership} is removed.${keys}`;
          present(context.terminal, json === true, { objects: [{ ...view, revoked_keys: revoked }], text });
        }),
      ),
    'npm run ags -- people remove mem_...',
    'npm run ags -- people remove mem_... --keep-key key_...',
  );
};

interface RemoveOptions extends Options {
  readonly keepKey?: readonly KeyId[];
}

const keysRevokedBetween = (before: LivingOrganization, now: LivingOrganization): readonly KeyId[] =>
  [...now.adminKeys.values()]
    .filter(({ key, revokedAt }) => revokedAt !== null && before.adminKeys.get(key)?.revokedAt === null)
    .map(({ key }) => key);

const registerErase = (people: Command, context: CommandContext): void => {
  withExamples(
    people
      .command('erase')
      .description(
        'Removes what is known of a person who is a member no more: address, sessions, mails. Deeds and events name ids ' +
          'alone and stay as they are. It cannot be taken back.',
      )
      .argument('<person>', 'usr_...', idArgument('usr'))
      .option('--json', 'one JSON object')
      .action(async (person: UserId, { json }: JsonOption) =>
        withDeploymentChange(context, async (deployment) => {
          await deployment.persons().erase(person, operatorMetadata(deployment, null));
          const answer: Answer = {
            objects: [{ object: 'user', id: person, erased: true }],
            text: `What was known of ${person} is removed.`,
          };
          present(context.terminal, json === true, answer);
        }),
      ),
    'npm run ags -- people erase usr_...',
  );
};

/** Whoever it was made for, while that person owns it still; else another owner. */
const ownerOf = ({ members, owner }: LivingOrganization): UserId => {
  const owners = [...members.values()].filter(({ status, role }) => status === 'active' && role === 'owner');
  return activeMembershipOf(members, owner)?.user ?? (owners[0] as Membership).user;
};

const asMember = async <Result>(user: UserId, work: () => Promise<Result>): Promise<Result> => {
  const { DomainError } = await import('#libs/domain/kernel');
  try {
    return await work();
  } catch (error) {
    if (error instanceof DomainError && error.code === 'not_found') throw noSuch(user);
    throw error;
  }
};

const noSuch = (id: string): Error =>
  notFound(`${id} is no member of this organization. Run \`npm run ags -- people list\` to see them.`);

const viewOf = (member: Membership, addresses: ReadonlyMap<UserId, string>) => ({
  object: 'membership',
  id: member.membership,
  user: member.user,
  email: addresses.get(member.user) ?? null,
  role: member.role,
  status: member.status,
  joined_at: member.joinedAt,
});

const described = (view: ReturnType<typeof viewOf>): string =>
  facts([
    ['membership', view.id],
    ['person', view.user],
    ['role', view.role],
  ]);
