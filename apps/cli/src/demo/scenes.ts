import { randomUUID } from 'node:crypto';
import { Person } from './person.js';
import { act, sealed, type Stage } from './stage.js';
import { member, type Answer } from './scratch-service.js';

export const callLine = (tool: string, args: object): string => `${tool} ${JSON.stringify(args)}`;

/** An executed action's answer in one line. L0 is the tool's own word. */
const outcomeLine = ({ status, json }: Answer): string => {
  const [execution, verdict, level] = [
    member(json, 'execution', 'status'),
    member(json, 'witness', 'verdict'),
    member(json, 'witness', 'level'),
  ].map(String);
  return `→ ${status} ${String(json['status'])}: ${execution}, ${verdict} at ${level}; ${String(json['state'])} as ${String(json['deed'])}`;
};

export const refusalLine = ({ status, json }: Answer): string =>
  `→ ${status} ${String(member(json, 'error', 'code'))}: ${String(member(json, 'error', 'message'))}`;

/** The agent makes a call, and the viewer sees it with its answer. */
const played = async (
  stage: Stage,
  tool: string,
  args: object,
  lineOf: (answer: Answer) => string,
): Promise<Answer> => {
  stage.story.tell(callLine(tool, args));
  const answer = await act(stage, tool, args);
  stage.story.tell(lineOf(answer));
  return answer;
};

const isSealed = (action: unknown): boolean =>
  member(action, 'state') === 'sealed' && String(member(action, 'deed')).startsWith('deed_');

export const allowedRead = async (stage: Stage): Promise<void> => {
  const { story, records } = stage;
  story.scene('A read that the policy allows');
  const answer = await played(stage, 'crm.get_customer', { id: '42' }, outcomeLine);
  story.claim(
    'the agent gets what the records hold: Ada Lovelace',
    answer.status === 200 && member(answer.json, 'execution', 'result', 'body', 'name') === 'Ada Lovelace',
  );
  story.claim('it is recorded and sealed as a deed before the agent is answered', isSealed(answer.json));
  story.claim('the records were asked once', records.arrivals.length === 1);
};

/** @returns the deed of the write */
export const allowedWrite = async (stage: Stage): Promise<string> => {
  const { story, records } = stage;
  story.scene('A write, with a credential that the agent never sees');
  const args = { id: '42', text: 'Called back, all settled.' };
  const answer = await played(stage, 'crm.add_note', args, outcomeLine);
  const arrival = records.arrivals.at(-1);
  story.claim(
    'the note is with the records, once',
    member(answer.json, 'execution', 'status') === 'succeeded' && records.writesTo('42') === 1,
  );
  story.claim('the records saw their token', arrival?.isAuthorized === true);
  story.claim(
    `the token is in none of the ${answer.text.length} characters that the agent got`,
    !answer.text.includes(records.token),
  );
  return String(answer.json['deed']);
};

export const contradictedWrite = async (stage: Stage): Promise<void> => {
  const { story } = stage;
  story.scene('A tool that says it is done, and is not');
  const answer = await played(stage, 'crm.set_plan', { id: '42', plan: 'enterprise' }, outcomeLine);
  story.claim(
    'the records said that they changed the plan',
    member(answer.json, 'execution', 'status') === 'succeeded',
  );
  story.claim(
    'the service read the customer back, and the witness contradicts them: MISMATCH at L1, sealed',
    member(answer.json, 'witness', 'verdict') === 'MISMATCH' &&
      member(answer.json, 'witness', 'level') === 'L1' &&
      isSealed(answer.json),
  );
  const id = String(answer.json['id']);
  const { json } = await stage.service.call('GET', `/v1/actions/${id}`, { key: stage.adminKey });
  const [expected, observed] = ['expected', 'observed'].map((side) =>
    String(member(json, 'witness', 'detail', side, 'body.plan')),
  );
  story.claim(
    `expected and seen stand side by side: ${expected}, ${observed}`,
    expected === 'enterprise' && observed === 'team',
  );
};

export const deniedDelete = async (stage: Stage): Promise<void> => {
  const { story, records } = stage;
  story.scene('A delete that the policy denies');
  const answer = await played(stage, 'crm.delete_customer', { id: '42' }, refusalLine);
  story.claim(
    'the agent hears the rule’s own sentence',
    answer.status === 403 && member(answer.json, 'error', 'message') === 'Customers are never deleted by an agent.',
  );
  story.claim('the refusal is sealed too', isSealed(member(answer.json, 'error', 'action')));
  story.claim('nothing reached the records', !records.arrivals.some(({ method }) => method === 'DELETE'));
};

export const unknownTool = async (stage: Stage): Promise<void> => {
  const { story } = stage;
  story.scene('A tool that nobody provides');
  const answer = await played(stage, 'billing.refund_customer', { id: '42' }, refusalLine);
  story.claim(
    'it is refused, recorded and sealed',
    answer.status === 404 &&
      member(answer.json, 'error', 'code') === 'tool_unknown' &&
      isSealed(member(answer.json, 'error', 'action')),
  );
};

export const sameKeyTwice = async (stage: Stage): Promise<void> => {
  const { story, records } = stage;
  story.scene('The same call three times, under one Idempotency-Key');
  const args = { id: '7', text: 'Sent an invoice.' };
  const key = randomUUID();
  story.tell(`${callLine('crm.add_note', args)}, two at the same moment and one more`);
  const before = records.writesTo('7');
  const answers = await Promise.all([act(stage, 'crm.add_note', args, key), act(stage, 'crm.add_note', args, key)]);
  answers.push(await act(stage, 'crm.add_note', args, key));
  const ids = new Set(answers.map(({ json }) => json['id']));
  const replayed = answers.filter(({ headers }) => headers.get('service-idempotent-replayed') === 'true').length;
  story.tell(`→ ${answers.map(({ status }) => status).join(', ')}; ${replayed} of them replayed`);
  story.claim(
    'three answers, one action',
    ids.size === 1 && replayed === 2 && answers.every(({ status }) => status === 200),
  );
  story.claim('the records got one note', records.writesTo('7') === before + 1);
};

/** A person at the brake. @returns the owner, signed in */
export const stopAll = async (stage: Stage): Promise<Person> => {
  const { story, service, prepared, records } = stage;
  story.scene('A person signs in, and stops every agent');
  const person = new Person(service);
  const signedIn = await person.signIn(prepared.signInToken ?? '');
  story.tell(`the owner opens the link of the first start and presses its button → ${signedIn.status}`);
  story.claim('the link works once', (await new Person(service).signIn(prepared.signInToken ?? '')).status === 400);
  const elsewhere = await person.sendFromElsewhere('POST', '/v1/org/stop', {});
  story.claim(
    'a page of another site cannot use the session',
    member(elsewhere.json, 'error', 'code') === 'csrf_failed',
  );
  const stopped = await person.send('POST', '/v1/org/stop', { reason: 'Investigating unusual notes' });
  story.tell(
    `POST /v1/org/stop → ${stopped.status} ${String(stopped.json['status'])}, sealed as ${String(stopped.json['deed'])}`,
  );
  const before = records.arrivals.length;
  const refused = await played(stage, 'crm.get_customer', { id: '42' }, refusalLine);
  story.claim(
    'the very next call is refused, and the refusal is sealed',
    isSealed(member(refused.json, 'error', 'action')),
  );
  story.claim('nothing reached the records', records.arrivals.length === before);
  const started = await person.send('POST', '/v1/org/start', {});
  story.claim('the owner starts them again', started.json['status'] === 'active');
  return person;
};

/** kill -9 while the upstream has the request and before anything is known about its outcome. */
export const crash = async (stage: Stage): Promise<void> => {
  const { story, records, service } = stage;
  story.scene('kill -9, while the records hold the request');
  const args = { id: '7', text: 'Refund agreed.' };
  const key = randomUUID();
  story.tell(callLine('crm.add_note', args));
  const before = records.writesTo('7');
  const isHeld = records.holdNext();
  const isLost = act(stage, 'crm.add_note', args, key).then(
    () => false,
    () => true,
  );
  // Whichever comes first: a call that ends before the records have it refutes the claim below.
  await Promise.race([isHeld, isLost]);
  await service.kill();
  story.claim('the agent’s connection breaks: it cannot know what happened', await isLost);
  story.tell('→ the service starts again, and the agent sends the same key again');
  await service.start();
  // Recovery may still be under way when the first answer comes.
  const repeated = await act(stage, 'crm.add_note', args, key);
  const answer = await sealed(stage, String(repeated.json['id']));
  story.tell(outcomeLine(answer));
  story.claim(
    'the outcome is sealed as unknown and UNVERIFIABLE: nothing is invented',
    member(answer.json, 'execution', 'status') === 'unknown' &&
      member(answer.json, 'witness', 'verdict') === 'UNVERIFIABLE' &&
      isSealed(answer.json),
  );
  story.claim('the records got the note once: nothing is sent twice', records.writesTo('7') === before + 1);
};
