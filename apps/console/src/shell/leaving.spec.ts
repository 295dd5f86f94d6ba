import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { hasUnsaved, markUnsaved } from '../kernel/drafts.ts';

const PATIENCE = { timeout: 20_000, interval: 5 };

const DRAFT = 'con_1';

/** What has happened, in its order. */
let happened: string[] = [];
/** What the person answers to a question. */
let says = true;
/** Event types that have a listener on the window. */
const heard = new Set<string>();

beforeAll(() => {
  vi.stubGlobal('location', {
    origin: 'http://console.test',
    assign: (place: string) => happened.push(`left for ${place}`, ...(heard.has('beforeunload') ? ['asked'] : [])),
    reload: () => happened.push('reloaded'),
  });
  vi.stubGlobal('confirm', () => {
    happened.push('asked');
    return says;
  });
  vi.stubGlobal('addEventListener', (type: string) => heard.add(type));
  vi.stubGlobal('removeEventListener', (type: string) => heard.delete(type));
  vi.stubGlobal('dispatchEvent', ({ type }: Event) => happened.push(type));
});
beforeEach(() => {
  happened = [];
  says = true;
});
afterEach(() => markUnsaved(DRAFT, false));
afterAll(() => void vi.unstubAllGlobals());

const end = (): Promise<void> => {
  happened.push('ended the session');
  return Promise.resolve();
};
const refused = (): Promise<void> => Promise.reject(new Error('refused'));

// The client of the API takes the origin of the page when it is loaded, so its modules are imported after that is set.
const leaving = () => import('./leaving.ts');

describe('who signs out with an unsaved draft', () => {
  beforeEach(() => markUnsaved(DRAFT, true));

  it('and chooses to stay keeps the session and the draft', async () => {
    const { thenGo } = await leaving();
    says = false;
    thenGo(end, '/login');
    await vi.waitFor(() => expect(happened).toEqual(['asked']), PATIENCE);
    expect(hasUnsaved()).toBe(true);
  });

  it('is asked once, before the session ends', async () => {
    const { thenGo } = await leaving();
    thenGo(end, '/login');
    await vi.waitFor(() => expect(happened).toEqual(['asked', 'ended the session', 'left for /login']), PATIENCE);
  });

  it('and is refused is asked again by the browser, and goes on as before after staying', async () => {
    const { readAnew, thenGo } = await leaving();
    thenGo(refused, '/login');
    await vi.waitFor(() => expect(happened).toEqual(['asked', 'reloaded']), PATIENCE);
    expect(heard.has('beforeunload')).toBe(true);
    // Would do nothing in a window that is about to leave.
    readAnew();
    expect(happened).toEqual(['asked', 'reloaded', 'reloaded']);
  });

  it('by being away is asked nothing: the session ends, and the page stays and says so', async () => {
    const { thenTell } = await leaving();
    await thenTell(end, '/login');
    expect(happened).toEqual(['ended the session', 'console:signed-out']);
    expect(hasUnsaved()).toBe(true);
  });
});

it.each(['thenGo', 'thenTell'] as const)('without a draft, %s leaves without a question', async (name) => {
  const module = await leaving();
  void module[name](end, '/login');
  await vi.waitFor(() => expect(happened).toEqual(['ended the session', 'left for /login']), PATIENCE);
});
