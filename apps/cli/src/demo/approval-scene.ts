import { setTimeout as sleep } from 'node:timers/promises';
import { Person } from './person.js';
import { linkMailedTo, tokenOf } from './printed-mails.js';
import { member, type Answer, type ScratchService } from './scratch-service.js';
import { sealed, type Stage } from './stage.js';

export const CLOSING_CALL = { tool: 'crm.close_account', args: { id: '42', why: 'Asked for by phone.' } };
const COLLEAGUE = 'grace@example.com';
const MAIL_DEADLINE_MS = 20_000;
const LOOK_AGAIN_MS = 100;

/**
 * @param owner signed in
 * @returns the action that both approved
 */
export const twoPeople = async (stage: Stage, owner: Person): Promise<string> => {
  const { story, service, records, adminKey, agentKey: key } = stage;
  story.scene('A call that two people must approve');
  story.tell(`${CLOSING_CALL.tool} ${JSON.stringify(CLOSING_CALL.args)}`);
  const arrived = records.arrivals.length;
  const submit = (): Promise<Answer> =>
    service.call('POST', '/v1/actions', { key, body: { ...CLOSING_CALL, wait: 25 } });
  const alone = await submit();
  story.tell(`→ ${alone.status} ${String(codeOf(alone))}: the owner is alone`);
  story.claim('nobody waits for what too few could say', codeOf(alone) === 'approval_unsatisfiable');
  const colleague = await joined(service, owner);
  story.tell('a colleague joins, and the agent submits it again');
  const held = await submit();
  story.tell(
    `→ ${held.status} ${String(held.json['status'])}, until ${String(member(held.json, 'approval', 'expires_at'))}`,
  );
  story.claim(
    'it waits, and nothing of it reaches the records',
    held.json['status'] === 'pending_approval' && records.arrivals.length === arrived,
  );
  const path = `/v1/approvals/${String(member(held.json, 'approval', 'id'))}`;
  story.claim(
    'the owner sees all arguments',
    JSON.stringify(await argsShownTo(owner, path)) === JSON.stringify(CLOSING_CALL.args),
  );
  const first = await approve(owner, path);
  story.tell(`the owner approves → ${String(first.json['countersigned'])} of ${String(first.json['required'])}`);
  story.claim('one yes is not enough', first.json['status'] === 'pending' && records.arrivals.length === arrived);
  story.claim('nobody signs twice', codeOf(await approve(owner, path)) === 'already_countersigned');
  const body = { context_digest: first.json['context_digest'] };
  const byKey = await service.call('POST', `${path}/approve`, { key: adminKey, body });
  story.claim('no key signs, not even an admin’s', codeOf(byKey) === 'approval_needs_person');
  const second = await approve(colleague, path);
  story.tell(`a colleague approves → ${String(second.json['status'])}`);
  const ended = await sealed(stage, String(held.json['id']));
  story.tell(`→ ${String(ended.json['status'])}, sealed as ${String(ended.json['deed'])}`);
  story.claim(
    'with the second yes it runs, once',
    ended.json['status'] === 'executed' && records.arrivals.length === arrived + 1,
  );
  return String(held.json['id']);
};

/** Who opens the link of the mail, which the service prints as long as there is no mail server. */
const joined = async (service: ScratchService, owner: Person): Promise<Person> => {
  await owner.send('POST', '/v1/org/members', { email: COLLEAGUE, role: 'admin' });
  const colleague = new Person(service);
  for (const deadline = performance.now() + MAIL_DEADLINE_MS; performance.now() < deadline;) {
    const link = linkMailedTo(COLLEAGUE, service.printed);
    if (link !== undefined) {
      await colleague.signIn(tokenOf(link));
      return colleague;
    }
    await sleep(LOOK_AGAIN_MS);
  }
  throw new Error('The invitation was not mailed in time.');
};

const argsShownTo = async (person: Person, path: string): Promise<unknown> =>
  member((await person.send('GET', path)).json, 'context', 'args');

/** What a person has looked at is what is approved. */
const approve = async (person: Person, path: string): Promise<Answer> => {
  const shown = await person.send('GET', path);
  return person.send('POST', `${path}/approve`, { context_digest: shown.json['context_digest'] });
};

const codeOf = ({ json }: Answer): unknown => member(json, 'error', 'code');
