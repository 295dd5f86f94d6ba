import { api, isOwnSession, type Schemas } from '../kernel/client.ts';
import { hasDrafts } from '../kernel/drafts.ts';
import { SIGNED_OUT } from './signed-out.ts';

/** Another window that switches the organization ends the old session a moment before the browser has the new one. */
const SWITCHING_MS = 1_000;

/** Whether this window is on its way to another page, which no refusal changes. */
let isGoing = false;
/** Whether it asks if its session is over. */
let isAsking = false;

const toSignIn = (): void => {
  const here = `${location.pathname}${location.search}`;
  location.assign(`/login?next=${encodeURIComponent(here)}`);
};

/** Of itself: a refusal of this question is not heard as one. Null where no whole answer came. */
const askWhoIsIn = () => api.GET('/v1/me').catch(() => null);

/**
 * A request was refused as nobody's. Only the session that it was sent with may be over: another window has switched the
 * organization, or somebody has signed in again there.
 *
 * @param goOn told who is signed in, where that is whoever opened this window, in the same organization
 */
export const leave = async (goOn: (me: Schemas['Me']) => void): Promise<void> => {
  if (isGoing || isAsking) return;
  isAsking = true;
  let answer = await askWhoIsIn();
  if (answer?.response.status === 401) {
    await new Promise((resolve) => setTimeout(resolve, SWITCHING_MS));
    answer = await askWhoIsIn();
  }
  isAsking = false;
  if (isGoing || answer === null) return;
  const { data: me, response } = answer;
  if (me !== undefined) {
    // What was written here is lost where the page is read anew.
    if (isOwnSession(me)) goOn(me);
    else readAnew();
  } else if (response.status === 401) {
    // The same: they sign in in another tab, and go on here.
    if (hasDrafts()) dispatchEvent(new Event(SIGNED_OUT));
    else {
      isGoing = true;
      toSignIn();
    }
  }
};

/** All that this window shows may be of another organization. */
export const readAnew = (): void => {
  if (isGoing) return;
  isGoing = true;
  location.reload();
};

/**
 * What ends this window's own session, and where it goes then: what else was asked meanwhile may be refused. Where the
 * service refuses the end itself, the page is read again: it then says what is wrong, and that nobody has left.
 */
export const thenGo = (asked: Promise<unknown>, place: string): void => {
  isGoing = true;
  void asked.then(
    () => location.assign(place),
    () => location.reload(),
  );
};
