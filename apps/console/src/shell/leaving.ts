import { api, isOwnSession, type Schemas } from '../kernel/client.ts';
import { dropUnsaved, hasUnsaved } from '../kernel/drafts.ts';
import { SIGNED_OUT } from './signed-out.ts';

/** If another window switches the organization, the old session ends a moment before the browser has the new one. */
const SWITCHING_MS = 1_000;

/** Whether this window is about to leave for another page. From then on refusals are ignored. */
let isGoing = false;
/** Whether the check of an ended session is under way. */
let isAsking = false;

const toSignIn = (): void => {
  const here = `${location.pathname}${location.search}`;
  location.assign(`/login?next=${encodeURIComponent(here)}`);
};

/**
 * Asks who is signed in, without `onRefusal`: a refusal here must not start this check again. Null if no answer came.
 */
const askWhoIsIn = () => api.GET('/v1/me').catch(() => null);

/**
 * Handles a 401. It may be only the request's own session that is over: another window may have switched the
 * organization, or somebody may have signed in again there. So the current session is asked for, twice if need be,
 * before anything is given up.
 * @param goOn called with the session if it is of the same person and organization as this window
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
    // Only another person or organization reloads the page, because a reload loses unsaved drafts.
    if (isOwnSession(me)) goOn(me);
    else readAnew();
  } else if (response.status === 401) {
    // With unsaved drafts the page stays, too: the person can sign in in another tab, and go on here.
    if (hasUnsaved()) dispatchEvent(new Event(SIGNED_OUT));
    else {
      isGoing = true;
      toSignIn();
    }
  }
};

/** Reloads the page, because all that it shows may be of another organization. */
export const readAnew = (): void => {
  if (isGoing) return;
  isGoing = true;
  location.reload();
};

/** Asks before unsaved drafts are lost, if there are any. Returns whether the page may be left. */
export const mayLeave = (): boolean =>
  !hasUnsaved() || confirm('Your unsaved drafts are lost if you leave this page. Leave it?');

/** Leaves for `place` after `mayLeave`, without another question by the browser. */
export const leaveFor = (place: string): void => {
  dropUnsaved();
  location.assign(place);
};

/**
 * Ends this window's session by a request, and leaves for `place`. If there are unsaved drafts, the person is asked
 * before the request and not after it: by then the session would be over, also for a person who chooses to stay. From
 * the request on refusals are ignored, because other requests under way may fail with the old session.
 *
 * If this request itself is refused, the page is reloaded, and shows that the session still holds. The browser asks
 * first if there are drafts; a person who stays goes on as before.
 */
export const thenGo = (end: () => Promise<unknown>, place: string): void => {
  if (!mayLeave()) return;
  isGoing = true;
  void end().then(
    () => leaveFor(place),
    () => {
      isGoing = !hasUnsaved();
      location.reload();
    },
  );
};

/**
 * As `thenGo`, while nobody is there to answer: with unsaved drafts the page stays, and tells that the session is over.
 * @throws {ApiError} if there are drafts, and the request is refused
 */
export const thenTell = async (end: () => Promise<unknown>, place: string): Promise<void> => {
  if (!hasUnsaved()) return thenGo(end, place);
  await end();
  dispatchEvent(new Event(SIGNED_OUT));
};
